"""What each provider does not take: one provider a file, tables with source and date."""
