"""Tools for authors of adapters and skills: the compliance suite, fakes, and the skill bench."""
