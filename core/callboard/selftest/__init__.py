"""The self-test, which tries callboard's features in an empty scene of this application and reports
the results."""
