"""Parts that several formats share: wrappers, grouping, raw values and foreign blocks."""
