"""Profiles: the requirements of each provider, one module each, as tables with source and date."""
