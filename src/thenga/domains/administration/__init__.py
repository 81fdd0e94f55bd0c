"""Administration: settings, policies, support and audit. Only what it will tell stands here yet."""
