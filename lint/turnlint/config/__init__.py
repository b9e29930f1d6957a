"""Find, read and check the settings of a project, and resolve them for each path.

The package finds the nearest settings file, follows `extend`, reports errors and applies the sections for a
path. It keeps the origin of each setting.
"""
