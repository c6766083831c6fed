"""Work on the installation: the settings and the service. None of it needs a running daemon."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from daemon.commands.frame import pass_session, shared_options
from daemon.render.lines import Span, printable
from daemon.session import Session
from recalld.errors import SettingsError

if TYPE_CHECKING:
    from daemon.service import Report, Service


@click.group()
@shared_options
def config() -> None:
    """Look at the settings, or begin a settings file."""


@config.command("show")
@shared_options
@pass_session
def config_show(shared: Session) -> None:
    """Every setting with its value and where it comes from."""
    from recalld.settings.showing import render_settings

    rows = render_settings(shared.load_settings({}))
    result = {key: {"value": value, "origin": origin} for key, value, origin in rows}
    width = max(len(key) for key, _, _ in rows)
    shared.show(
        result,
        (
            (
                Span(f"{key:<{width}} = "),
                Span(printable(value), "strong"),
                Span(f"  ({origin})", "dim"),
            )
            for key, value, origin in rows
        ),
    )


@config.command("path")
@shared_options
@pass_session
def config_path(shared: Session) -> None:
    """Where the settings file is, or would be."""
    path = shared.settings_file
    shared.show({"path": str(path), "exists": path.exists()}, [(Span(printable(path)),)])


@config.command("init")
@shared_options
@pass_session
def config_init(shared: Session) -> None:
    """Write a settings file with every key and its default; an existing one is left alone."""
    from recalld.settings.showing import example_settings

    path = shared.settings_file
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(example_settings())
    except FileExistsError:
        raise SettingsError((f"{path}: exists already",), hint="edit it, or move it away") from None
    shared.show({"path": str(path)}, [(Span(f"wrote {printable(path)}"),)])


@click.group()
@shared_options
def service() -> None:
    """Run recalld in the background, as a user service of systemd."""


@service.command("install")
@shared_options
@pass_session
def service_install(shared: Session) -> int:
    """Write the units, start the service now and at every login."""
    return _tell_service(shared, _service(shared).install())


@service.command("uninstall")
@shared_options
@pass_session
def service_uninstall(shared: Session) -> int:
    """Stop the service and remove its units; notes, memory and settings stay."""
    return _tell_service(shared, _service(shared).uninstall())


@service.command("status")
@shared_options
@pass_session
def service_status(shared: Session) -> int:
    """Say whether the service is installed, enabled and running."""
    return _tell_service(shared, _service(shared).status())


def _service(shared: Session) -> Service:
    from daemon.service import Service

    return Service(
        env=os.environ,
        home=shared.home,
        config=shared.config,
        socket=shared.socket_path,
        load=lambda: shared.load_settings({}).settings,
    )


def _tell_service(shared: Session, report: Report) -> int:
    result = {"ok": report.ok, "messages": list(report.messages), **report.facts}
    shared.show(result, ((Span(printable(message)),) for message in report.messages))
    return 0 if report.ok else 1


COMMANDS: tuple[click.Command, ...] = (config, service)
