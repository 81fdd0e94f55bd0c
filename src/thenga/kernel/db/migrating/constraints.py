"""Rules that the database holds: unchangeable rows, frozen documents, balanced journals."""

from collections.abc import Sequence

from alembic import op


def append_only(*tables: str) -> None:
    """What is written stays: nobody changes or removes a row, the owner of the table neither."""
    domain, _ = tables[0].split(".")
    refuse = _refusing(domain)
    for table in tables:
        op.execute(
            f"CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW {refuse}"
        )
        op.execute(f"CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON {table} {refuse}")
        op.execute(f"REVOKE UPDATE, DELETE ON {table} FROM {domain}, {domain}_system")


def _refusing(domain: str) -> str:
    op.execute(
        f"CREATE OR REPLACE FUNCTION {domain}.refuse_change() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    return f"EXECUTE FUNCTION {domain}.refuse_change()"


def frozen(table: str, *, once: str, besides: Sequence[str]) -> None:
    """What was issued stays: as soon as the column `once` holds something, nobody changes any
    other column than `besides`, and nobody removes the row."""
    domain, _ = table.split(".")
    refuse = _refusing(domain)
    held = "string_to_array(TG_ARGV[1], ',')"
    op.execute(
        f"CREATE OR REPLACE FUNCTION {domain}.refuse_thaw() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF (to_jsonb(OLD) ->> TG_ARGV[0]) IS NOT NULL AND (TG_OP = 'DELETE' "
        f"OR (to_jsonb(OLD) - {held}) <> (to_jsonb(NEW) - {held})) THEN "
        f"RAISE EXCEPTION '% was issued and stays as it is', TG_TABLE_NAME; END IF; "
        f"IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
    )
    moving = ",".join(("updated_at", "version", *besides))
    op.execute(
        f"CREATE TRIGGER refuse_thaw BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW "
        f"EXECUTE FUNCTION {domain}.refuse_thaw('{once}', '{moving}')"
    )
    op.execute(f"CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON {table} {refuse}")


def joins_only_while(lines: str, column: str, parent: str, *, unset: str) -> None:
    """A row of `lines` joins its parent only while the parent's column `unset` holds nothing."""
    domain, _ = lines.split(".")
    name = f"{domain}.refuse_joining_{parent.split('.')[1]}"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF NOT EXISTS (SELECT 1 FROM {parent} WHERE organization_id = NEW.organization_id "
        f"AND id = NEW.{column} AND {unset} IS NULL) THEN "
        f"RAISE EXCEPTION 'a line joins only what was not issued yet'; END IF; RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE TRIGGER refuse_joining BEFORE INSERT ON {lines} FOR EACH ROW "
        f"EXECUTE FUNCTION {name}()"
    )


def adds_up(table: str, parts: str, key: str, *, total: str, when: str) -> None:
    """At commit the numbers under `key` in the JSON list `parts` sum to exactly `total`, in every
    row of the status `when`."""
    domain, name = table.split(".")
    op.execute(
        f"CREATE FUNCTION {domain}.refuse_sum_of_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"DECLARE found numeric; BEGIN SELECT sum((one ->> '{key}')::numeric) INTO found "
        f"FROM jsonb_array_elements(NEW.{parts}) AS one; "
        f"IF NEW.status = '{when}' AND found IS DISTINCT FROM {total} THEN "
        f"RAISE EXCEPTION '{parts} of {table} sum to %', found; END IF; RETURN NULL; END $$"
    )
    op.execute(
        f"CREATE CONSTRAINT TRIGGER refuse_sum AFTER INSERT OR UPDATE ON {table} "
        f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
        f"EXECUTE FUNCTION {domain}.refuse_sum_of_{name}()"
    )


def below_notice(table: str, column: str, notice: str) -> None:
    """A row below a notice: its writer sees the notice, and only its keeper adds shared rows.

    What another organization adds to a shared notice is its own and stays private.
    """
    domain, name = table.split(".")
    op.execute(
        f"CREATE FUNCTION {domain}.refuse_below_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF NOT EXISTS (SELECT 1 FROM {notice} AS above WHERE above.id = NEW.{column} "
        f"AND (above.organization_id = NEW.organization_id OR (above.shared "
        f"AND NOT coalesce((to_jsonb(NEW) ->> 'shared')::boolean, false)))) THEN "
        f"RAISE EXCEPTION 'this notice is kept by another organization' "
        f"USING ERRCODE = 'insufficient_privilege'; END IF; RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE TRIGGER refuse_below BEFORE INSERT OR UPDATE OF {column}, organization_id "
        f"ON {table} FOR EACH ROW EXECUTE FUNCTION {domain}.refuse_below_{name}()"
    )


def balanced(entries: str, lines: str) -> None:
    """A journal: at commit each entry has lines that sum to 0 in each currency, and a line joins
    only an entry of its own transaction; `lines` has `entry_id`, `amount_minor`, `currency`."""
    domain, _ = entries.split(".")
    same = "organization_id = NEW.organization_id"
    op.execute(
        f"CREATE FUNCTION {domain}.refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"DECLARE entry uuid := to_jsonb(NEW) ->> TG_ARGV[0]; counted bigint; even boolean; "
        f"BEGIN SELECT sum(n), bool_and(total = 0) INTO counted, even FROM ("
        f"SELECT count(*) AS n, sum(amount_minor) AS total FROM {lines} "
        f"WHERE {same} AND entry_id = entry GROUP BY currency) AS by_currency; "
        # Lines that row security hides would count as none: refused as well.
        f"IF coalesce(counted, 0) < 2 OR NOT even THEN "
        f"RAISE EXCEPTION 'entry % of {entries} does not sum to 0', entry; END IF; "
        f"RETURN NULL; END $$"
    )
    op.execute(
        f"CREATE FUNCTION {domain}.refuse_late_line() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF NOT EXISTS (SELECT 1 FROM {entries} WHERE {same} AND id = NEW.entry_id "
        f"AND xmin = pg_current_xact_id()::xid) THEN "
        f"RAISE EXCEPTION 'a line joins only an entry of its own transaction'; END IF; "
        f"RETURN NEW; END $$"
    )
    for table, column in ((entries, "id"), (lines, "entry_id")):
        op.execute(
            f"CREATE CONSTRAINT TRIGGER refuse_unbalanced AFTER INSERT ON {table} "
            f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
            f"EXECUTE FUNCTION {domain}.refuse_unbalanced('{column}')"
        )
    op.execute(
        f"CREATE TRIGGER refuse_late_line BEFORE INSERT ON {lines} FOR EACH ROW "
        f"EXECUTE FUNCTION {domain}.refuse_late_line()"
    )
