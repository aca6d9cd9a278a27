+ callboard @VERSION@ ./callboard
PYTHONPATH +:= python
