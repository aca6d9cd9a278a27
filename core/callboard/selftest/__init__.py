"""The self-test: what callboard does in this application, tried in an empty scene and reported."""
