"""Routes of plan versions, for operators."""
