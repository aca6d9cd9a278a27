"""Everything between a call's arguments and its answer: gate, schema, consent, dispatcher, undo,
output."""
