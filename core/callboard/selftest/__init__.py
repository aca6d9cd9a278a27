"""The self-test, which tests callboard's features in an empty scene in this application and reports
the results."""
