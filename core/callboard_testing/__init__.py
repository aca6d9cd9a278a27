"""What authors of adapters and skills test with: the compliance suite, fakes, the skill bench."""
