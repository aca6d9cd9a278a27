"""One call from its arguments to its answer: gate, schema, consent, dispatcher, undo, output."""
