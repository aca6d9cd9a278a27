"""The steps from a call's arguments to its answer: capabilities, schema, consent, dispatcher, undo
and output."""
