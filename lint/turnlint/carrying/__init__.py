"""What formats share: wrappings, grouping, values kept as written, pieces of other wires.

This package owns whatever more than one carrier needs. It refuses to be a format.
"""
