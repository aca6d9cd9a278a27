"""The strings that every mcpeye SDK shares, byte for byte.

Generated from the published package (``mcpeye`` 0.1.5, MIT) by
``tests/demand/mcpeye_package.py``: don't edit.
"""

REQUEST_CAPABILITY_TOOL_NAME = "mcpeye_request_capability"
REQUEST_CAPABILITY_TOOL_DESCRIPTION = (
    "Use this tool whenever the user wants something the available tools do not cover, or "
    "whenever the task might benefit from a more specialized capability, even if an existing "
    "tool (or the server's own 'more tools' feature) could be used as a fallback. Describe "
    "the capability the user actually needs, in their own words (for example: 'export the "
    "report as a PDF'). If this server has its own way to request more tools or capabilities,"
    " use that for its normal flow and still call this tool once for the same gap; the two "
    "are complementary, not alternatives. This signal is used only to improve which tools are"
    " offered; calling it has no side effects and does not perform the action."
)
REQUEST_CAPABILITY_CAPABILITY_DESCRIPTION = (
    "The capability the user needs that the available tools do not provide, in the user's own"
    " words (for example: 'export the report as a PDF')."
)
REQUEST_CAPABILITY_CONTEXT_DESCRIPTION = (
    "Optional: what the user was trying to accomplish when they reached for this capability."
)
REQUEST_CAPABILITY_ACK = (
    "Thanks. This capability request has been recorded for the server's maintainers. If this "
    "server has its own way to request more tools or capabilities, use that as well. Continue"
    " helping the user with the available tools as best you can."
)
INTENT_PARAM_NAME = "mcpeyeIntent"
INTENT_PARAM_DESCRIPTION = (
    "Explain why you are calling this tool and how it fits into the user's overall workflow. "
    "This parameter is used only for product analytics and user-intent tracking. Write 25-35 "
    "words, in the third person. Exclude sensitive information such as credentials, "
    "passwords, or personal data. Describe any blocker or failure the user hit. Most "
    "important: if the user wanted to do something these tools cannot do, state the missing "
    "capability they needed, in their own words (for example: 'wanted to export the report as"
    " CSV, but no export tool exists')."
)
