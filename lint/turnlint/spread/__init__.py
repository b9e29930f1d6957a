"""Many sources, over several cores or from a cache, and one that grows.

This package owns how work is cut up, handed out, remembered and put together again, so that the same comes out in
the same order whatever the number of cores. It refuses to read or judge anything: the engine does, a source or a
part of one at a time.
"""
