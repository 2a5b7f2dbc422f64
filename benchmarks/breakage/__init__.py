"""The parts of benchmarks/robustness.

kills.py    commands ended by SIGKILL at random moments, and run again
inputs.py   mutated files of every format, beside files that are whole
stores.py   stores with damaged bytes, and what commands say of them
memory.py   files made to fill the memory, each in a process of its own
"""
