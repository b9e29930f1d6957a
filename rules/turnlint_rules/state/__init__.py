"""State: what is written is damaged before anyone pairs anything."""
