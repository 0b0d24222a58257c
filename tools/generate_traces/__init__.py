"""Multi-rank profiler traces from a known truth.

engine.py   plays host threads, streams and collectives; times are int nanoseconds
model.py    a training step as programs for the engine
scenarios.py  which ranks sleep, work more, are slow, are absent; clocks; captures
truth.py    what a reader of the files should find, by brute force
kineto.py   the files, byte for byte like those of torch.profiler
dirt.py     small damaged files, one for each kind of damage
"""
