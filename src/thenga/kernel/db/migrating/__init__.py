"""What a migration may use: tables of a named kind, rules held by the database, kernel tables."""

from thenga.kernel.db.migrating.constraints import (
    adds_up,
    append_only,
    balanced,
    below_notice,
    frozen,
    joins_only_while,
)
from thenga.kernel.db.migrating.kernel_tables import (
    make_figures,
    make_kernel_tables,
    make_series,
    make_setting_values,
    show_job_schedule,
)
from thenga.kernel.db.migrating.searching import (
    make_part_index,
    make_search_configuration,
    make_search_index,
)
from thenga.kernel.db.migrating.tables import (
    Instant,
    keeper_removes,
    let_gate_read,
    let_gate_read_more,
    make_table,
    secure,
)

__all__ = [
    "Instant",
    "adds_up",
    "append_only",
    "balanced",
    "below_notice",
    "frozen",
    "joins_only_while",
    "keeper_removes",
    "let_gate_read",
    "let_gate_read_more",
    "make_figures",
    "make_kernel_tables",
    "make_part_index",
    "make_search_configuration",
    "make_search_index",
    "make_series",
    "make_setting_values",
    "make_table",
    "secure",
    "show_job_schedule",
]
