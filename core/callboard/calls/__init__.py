"""Everything between a call's arguments and its answer: capabilities, schema, consent, dispatcher,
undo, output."""
