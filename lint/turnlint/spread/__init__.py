"""Lint many sources on several cores or from a cache, and follow a source that grows.

The package cuts work into tasks, runs them, caches the results and joins them. The events and their order do
not depend on the number of cores. The engine reads and judges the sources.
"""
