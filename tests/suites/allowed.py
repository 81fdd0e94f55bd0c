"""What a sweep lets pass, each with its reason; a line here is a decision, not a way to get green.

`*` stands for every domain's own schema.
"""

# Tables that are of no kind.
TABLES: dict[str, str] = {
    "*.migration": "Alembic's own note of the newest revision; one word, nobody's data",
}

# Keys that do not begin with whom the row belongs to.
KEYS: dict[str, str] = {
    "*.outbox.outbox_pkey": "a journal: made by us, never named by a caller, read by the relay",
    "*.relay_state.relay_state_pkey": "one row a domain, read and written by the relay",
    "*.inbox.inbox_pkey": "an event is taken once, whoever it belongs to",
    "*.parked_event.parked_event_pkey": "as the inbox",
    "*.audit_entry.audit_entry_pkey": "a journal: the identifier is made by us",
    "*.audit_entry.audit_chain": "a chain is one organization's, person's or the platform's",
    "*.audit_head.audit_head_pkey": "the head of a chain, found by the sealer only",
    "identity.use_note.use_note_key": "a journal: noted by us, folded in by the system login",
    "identity.api_key.api_key_hash_once": "found by its hash before anybody knows whose it is",
    "*.procrastinate_jobs.procrastinate_jobs_pkey": "Procrastinate's own table",
    "*.procrastinate_jobs.procrastinate_jobs_lock_idx_v1": "a lock begins with job and tenant",
    "*.procrastinate_jobs.procrastinate_jobs_queueing_lock_idx_v1": "as the lock",
    "*.procrastinate_jobs.procrastinate_jobs_worker_id_fkey": "Procrastinate's own table",
    "*.procrastinate_events.procrastinate_events_pkey": "Procrastinate's own table",
    "*.procrastinate_events.procrastinate_events_job_id_fkey": "Procrastinate's own table",
    "*.procrastinate_periodic_defers.procrastinate_periodic_defers_pkey": "Procrastinate's own",
    "*.procrastinate_periodic_defers.procrastinate_periodic_defers_unique": "Procrastinate's own",
    "*.procrastinate_periodic_defers.procrastinate_periodic_defers_job_id_fkey": "its own",
    "*.procrastinate_workers.procrastinate_workers_pkey": "Procrastinate's own table",
    "billing.payment.payment_provider_reference_once": "a callback names our reference "
    "before anybody knows whose it is; the reference is made by us, so nobody can probe",
    "billing.payment.payment_provider_number_once": "the provider's own number, stated by it alone",
    "billing.payment.payment_bank_reference_once": "one line of the bank confirms one payment; "
    "stated by operators alone",
    "organization.verification.verification_one_holder": "ORG-33: one verified holder of a number "
    "over all companies; the second check is answered `inconclusive` and names nobody",
    "billing.invoice.invoice_number_live": "BIL-25: a number is given once by a seller, whoever "
    "is billed; numbers are made by us and named by no caller",
    "billing.credit_note.credit_note_number_live": "as the number of an invoice",
    "opportunity.tender_opportunity.tender_opportunity_ocid_shared": "an ocid names one public "
    "tender in the world; only shared rows are compared, which everybody reads",
    "parties.remark.remark_tender_id_refers": "what a tenant adds to a notice that another keeps; "
    "the notice is read through row security first",
}

# Moving doors that the sweep cannot knock at, because it stores several rows in one organization.
KNOCKED_ELSEWHERE: dict[str, str] = {
    "decide_verification": "one door of five moves, told by its body; test_verifications.py "
    "knocks with each from every state",
    "cancel_verification": "only for who requested it; test_verifications.py, as decide",
    "pause_subscription": "one plan an organization; test_pauses.py knocks from every state",
    "resume_subscription": "as pause_subscription",
    "withdraw_plan_change": "moves nothing itself; time may have moved the plan before it",
    "undo_cancellation": "one plan an organization; test_cancellations.py undoes in every state",
    "cancel_trial": "one trial an organization; test_trials.py knocks from every state",
    "write_off_invoice": "only staff move it, and the law of numbers lets no sweep plant a "
    "document; test_invoices.py knocks from every state",
    "close_billing_account": "only staff move it, one account an organization; test_accounts.py",
    "change_billing_account": "one account an organization; completed on the way, test_accounts.py",
}

# Fields of events with the name of a secret that hold none.
TOLD: dict[str, str] = {
    "IntegrationConfigurationChanged.secrets": "names and version numbers; values are sealed",
}

# Fields of request bodies with the name of something that the server decides.
SERVER_OWNED: dict[str, str] = {
    "AddContact.user_id": "which account a contact has; refused unless it belongs here",
    "ChangeContact.user_id": "as AddContact",
    "AddDirector.user_id": "as AddContact",
    "ChangeDirector.user_id": "as AddContact",
    "ProducedBy.version": "of the program that suggests, not of a resource",
    "AskedAgent.version": "which machine acts, told by whoever runs it; not a version of a row",
    "AskToJoin.organization_id": "a selector; it must be the organization the request acts for",
    "AskToJoin.user_id": "whom to ask; nothing happens to them before they accept",
    **dict.fromkeys(
        (
            *("CreateRequirement.organization_id", "AddDocument.organization_id"),
            *("LinkEvidence.organization_id", "RequestVerification.organization_id"),
        ),
        "a selector; it must be the organization the request acts for (CMP-1)",
    ),
    "CreateDownloadLink.version": "which version of a document to read",
    "Invite.organization_id": "a selector; it must be the organization the request acts for",
    "AssignRole.user_id": "which of staff gets a platform role; nobody gives one to themselves",
    "CreateUser.staff": "staff are made by staff only, and this is where (IDN-18)",
    "ModerateListing.decision": "what a moderator decides about a version (MKT-4)",
    "ReviewComplianceSuggestion.decision": "what a person decides about a suggestion (CMP-36)",
    "BidTeamMember.price": "whether a colleague sees prices, which the bid manager decides (BID-4)",
    "DecideSectionSuggestion.decision": "what a person decides about a suggestion (BID-14)",
    "ReconfirmBid.decision": "how a person goes on after an amendment (BID-50)",
    "AddBidFile.price": "whether a file holds prices, which its sender knows (BID-4)",
    "DecideApproval.decision": "what an approver decides about exactly one hash (BID-37)",
    "RivalOffer.price": "what another bidder may ask, in a scenario of one's own (BID-34)",
    "OutcomeWinner.price": "what another bidder asked, as the buyer published it (BID-51)",
    "OutcomeAppeal.status": "how far an appeal at the buyer is, as a person records it (BID-52)",
    "RecordDecision.decision": "what people decided, in their words; recorded and never changed",
    "JudgedBody.score": "what a person judges, kept apart from what is measured (CON-37)",
    "SignInWithPassword.organization_id": "a selector, looked up among one's own memberships",
    "SwitchOrganization.organization_id": "a selector, as at sign-in",
}

# Answers 201 and 202 that say no place, because there is nothing to read there.
WITHOUT_LOCATION: dict[str, str] = {
    "register": "the same answer for everybody, so that nobody learns who is known",
    "ask_password_reset": "as register",
    "ask_address_change": "as register",
    "start_provider_sign_in": "ended by the callback; there is nothing to read",
    "register_factor": "read in the list of factors alone",
    "create_challenge": "answered once, by the session that asked",
    "assign_role": "read in the list of assignments alone",
    "assign_permission": "as assign_role",
    "issue_grant": "read in the list of grants alone",
    "reserve_usage": "settled by its key; nobody asks after it",
    "create_download_link": "its address is a secret, which a header would carry into logs",
}

# Moves that are shown to callers though no operation has their name.
CALLED_OTHERWISE: dict[str, str] = {
    "User.reopen": "enabling an account whose address was never proved; the guards tell which",
    "Session.complete": "answering the challenge of the sign-in that made the session",
    "FactVerification.request": "adding a verification to the fact",
    "Schedule.cancel": "DELETE of the schedule",
    "Reminder.cancel": "DELETE of the reminder",
    "Plan.baseline": "`baseline` in POST of the delivery plan",
    "Account.complete": "saying who is billed, by POST or PATCH of the account",
    **dict.fromkeys(
        ("Recommendation.accept", "Recommendation.override"),
        "`choice` in PATCH of the recommendation",
    ),
    **dict.fromkeys(
        ("Suggestion.accept", "Suggestion.edit", "Suggestion.reject"),
        "`suggestion` in PATCH of the section",
    ),
}

# Recorded maps whose names are not ours to choose.
FREE_MAPS: dict[str, str] = {
    **dict.fromkeys(
        ("open_bid_workspace/team", "get_bid_workspace/team", "change_bid_workspace/team"),
        "people of the team by their IDs",
    ),
    "change_compliance_matrix/rows": "answers by the IDs of requirements",
    **dict.fromkeys(
        ("get_notification_request/counts/deliveries", "get_notification_request/counts/notSent"),
        "counts by status and by reason code",
    ),
    **dict.fromkeys(
        (
            "create_compliance_profile/answers",
            "get_compliance_profile/answers",
            "change_compliance_profile/answers",
        ),
        "answers by the code of their question",
    ),
    "list_audit_events/items/detail/after": "columns as they are stored, for an auditor",
    "receive_callback/data": "the provider's own message",
    **dict.fromkeys(
        ("receive_channel_callback/signature", "receive_channel_callback/event-data"),
        "the provider's own message",
    ),
    **dict.fromkeys(
        (
            *("change_pack/acknowledgements", "seal_pack/acknowledgements"),
            "submit_pack/acknowledgements",
        ),
        "findings by their keys",
    ),
    **dict.fromkeys(
        (
            *("change_sbd_form/answers", "get_sbd_form/answers", "sign_sbd_form/answers"),
            "list_form_definitions/items/fields/requiredIf",
        ),
        "fields of a form by the numbers that the form has",
    ),
    **dict.fromkeys(
        ("change_workbook/items", "create_workbook/items", "get_workbook/items"),
        "items of a bill by the numbers that the bill has",
    ),
    "create_template/content": "languages by their tags",
    "create_template/versions/content": "languages by their tags",
    "get_template/versions/content": "languages by their tags",
    "add_template_version/content": "languages by their tags",
    "add_template_version/versions/content": "languages by their tags",
    "approve_template_version/versions/content": "languages by their tags",
}

# Lists that do not begin with the newest: they hold things with a name, not what happened.
NAMED_THINGS: dict[str, str] = {
    **dict.fromkeys(
        ("list_users", "list_members", "list_memberships", "list_organization_users"),
        "people of an organization, in the order in which they came",
    ),
    **dict.fromkeys(
        (
            "list_role_assignments",
            "list_permission_assignments",
            "list_api_keys",
            "list_devices",
            "list_external_identities",
        ),
        "what somebody has now; each is known by its role, permission or name",
    ),
    **dict.fromkeys(
        ("list_directors", "list_contacts", "list_addresses", "list_client_references"),
        "entries of a company's profile",
    ),
    **dict.fromkeys(
        ("list_services", "list_products", "list_capabilities", "list_past_projects"),
        "entries of a company's profile",
    ),
    **dict.fromkeys(("list_equipment", "list_fleet_assets"), "machines, each with a name"),
    "list_support_messages": "a conversation, read from its first message",
    **dict.fromkeys(("list_plans", "list_meters"), "a catalogue, in the order of its making"),
    "list_billing_accounts": "customers of ours, one an organization",
    "list_payment_methods": "cards and accounts that can be charged",
    "list_bid_tasks": "work to do, read from what is due first",
    "list_requirements": "what a company must prove, each with a title",
    "list_verifications": "a queue of work, read from what has waited longest",
    "list_opportunities": "tenders that can be bid for, read from the one that closes first",
    "list_channels": "a few ways of the platform, each with a code",
}

# Names of an organization beside `organizationId`.
ORGANIZATION_NAMES: dict[str, str] = {
    "tenant": "IDN-27: a question names a tenant, which is an organization or the platform",
}
