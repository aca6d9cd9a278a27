"""The composition root: a host and a configuration become a running server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from callboard.bundles.installed.origin import bundle_of
from callboard.bundles.running.host_bundles import HostBundles
from callboard.calls import output
from callboard.calls.batch_tool import batch_tool
from callboard.calls.breakpoints import stop_here
from callboard.calls.capabilities import Capabilities
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.project_rules import RuleStore
from callboard.calls.recent_log import RecentLog
from callboard.calls.tools import ToolRegistry
from callboard.calls.undo_tools import undo_tools
from callboard.clients.book import ClientBook
from callboard.clients.holder import ANYONE, TokenHolder, new_token
from callboard.config import McpHttpConfig
from callboard.demand.live_report import LiveReport
from callboard.ground.folders import cache_folder, data_folder
from callboard.ground.live_process import start_ticks
from callboard.ground.machine_policy import PolicyError, SettingsError, switched_off
from callboard.ground.version import __version__
from callboard.guest.loop import GuestLoop
from callboard.jobs.jobs import Jobs
from callboard.jobs.tools import job_tools
from callboard.jobs.workflows.tools import workflow_tools
from callboard.ports.capability_names import FARM
from callboard.ports.host import Host, HostEvent
from callboard.protocol.subscriptions import Topic
from callboard.records.log_file import LogFile
from callboard.records.record_settings import export_target, place_of, store
from callboard.records.recorder import Recorder
from callboard.records.redaction import Redactor
from callboard.service.apps import views
from callboard.service.file_tools import file_template, file_tools
from callboard.service.live_resources import job_results, live_resources, reports, waiting_calls
from callboard.service.resource_updates import ResourceUpdates
from callboard.service.resources import ResourceRegistry
from callboard.service.served_skills import SKILLS, ServedSkills
from callboard.service.service import Service
from callboard.service.skill_resources import SkillResources
from callboard.settings import needs_restart, under_policy
from callboard.skills.catalog import SkillCatalog, SkillScope, scoped_paths
from callboard.skills.discovery import BUNDLED
from callboard.skills.origins import Origins
from callboard.skills.prompts.registry import PromptRegistry
from callboard.skills.serving.catalog_tools import catalog_tools
from callboard.skills.serving.loaded_skills import LoadedSkills
from callboard.transport import instances
from callboard.transport.http.access import Access
from callboard.transport.http.listener import Listener
from callboard.transport.http.mcp import McpEndpoint
from callboard.transport.machine import this_machine
from callboard.transport.policy_watch import PolicyWatch
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.projects import project_of
from callboard.workspace.roots import RootsBook

if TYPE_CHECKING:
    from callboard.jobs.workflows.runs import Workflows
    from callboard.panel.controls import Controls
    from callboard.rest.endpoint import RestEndpoint

log = logging.getLogger(__name__)

#: The modules for the end of a session, then those for ``callboard stop``, loaded in small steps.
#: The server's loop can't answer any client while it is loading code. Tornado isn't listed, because
#: it has a different name in an application's archive. The fourth module imports it.
_ENDS = (
    *("html.entities", "logging.handlers", "http.cookies", "callboard.transport.http.general"),
    *("callboard.selftest.checks", "callboard.rest.artist_routes"),
    *("callboard.rest.endpoint", "callboard.rest.capability_switches"),
    *("callboard.rest.selftest_route", "callboard.rest.stop_route"),
)


class Callboard:
    """One server inside one host. Make, start and stop it on the host's main thread."""

    def __init__(
        self,
        host: Host,
        config: McpHttpConfig | None = None,
        tools: ToolRegistry | None = None,
        prompts: PromptRegistry | None = None,
    ) -> None:
        self.host = host
        self._policy = PolicyWatch(self._policy_changed)
        #: The configuration as it was given, and the same with the machine's policy applied.
        self._given = config or McpHttpConfig()
        self.config = config = under_policy(self._given)
        self.id = instances.new_id()
        self.url = ""
        self._started = 0.0
        self.token = config.token if config.auth == "token" else None
        self._log_file: LogFile | None = None
        self.guest = GuestLoop(host)
        self.clients = ClientBook()
        self.log = RecentLog()
        self.tools = tools if tools is not None else ToolRegistry()
        self.prompts = prompts if prompts is not None else PromptRegistry()
        self.resources = ResourceRegistry()
        self.capabilities = self._make_capabilities()
        self.roots = RootsBook(config.roots, config.roots_policy)
        kind, paths = host.identity.kind, _skill_paths(host, config)
        self._skill_paths = [path for path, _ in paths]
        self.catalog = SkillCatalog(paths, kind, _cache_file(config), bundle_of)
        self.skills = LoadedSkills(self.catalog, self.tools, self.prompts)
        self._skill_resources = SkillResources(self.catalog, self.skills, self.resources)
        offering = (self.tools, self.roots, self.capabilities, self.guest.loop, self.prompts)
        self.bundles = HostBundles(kind, self.catalog, paths, *offering, self.resources.take)
        self.tools.explain_absent(self.bundles.why_absent)
        self.catalog.host_capabilities = self.bundles.provided
        self.dispatcher = Dispatcher(
            host,
            self.guest,
            self.tools,
            self.capabilities,
            self.roots,
            self.resources.find,
            platform=self.bundles.platform,
            default_timeout=config.call_timeout,
        )
        self._use_policy()
        self._rules = self._make_rules()
        self._export = export_target(config.export)
        self.records = store(config, self._export)
        self._recorder: Recorder | None = None
        self._report = None if self.records is None else LiveReport(self.records)
        self.jobs = Jobs()
        self.service = self._make_service()
        self.service.not_kept = self._not_kept
        self.endpoint = self._make_endpoint()
        self._updates = self._make_updates()
        self._listener = Listener()
        #: The actions that undo the start, newest first.
        self._ending = ExitStack()
        self._scene = instances.OpenScene()
        self._announcement = instances.Announcement()

    def _use_policy(self) -> None:
        """Apply the machine's policy, which is part of the configuration."""
        config, locks = self.config, self.config.locks
        self.capabilities.forbid(config.forbidden)
        self.roots.lock(locks.roots_limit, always_strict=config.always_strict)
        library = locks.assets
        self.roots.library = WorkspaceRoots(library, policy="strict") if library else None
        self.dispatcher.consent.require(locks.consent)
        skills, bundles = locks.skills_from, locks.bundles_from
        let_in = None if skills is None else [*skills, *(bundles or ())]
        self.catalog.why_not = Origins(let_in).why_not
        self.bundles.why_not = Origins(skills if bundles is None else bundles).why_not
        if self._log_file is not None:
            self._log_file.attach(locks.log_level)

    def _make_capabilities(self) -> Capabilities:
        config, deny = self.config, self._given.deny
        own = [FARM] if config.farm_scheduler else []
        offered = config.declared_capabilities
        return Capabilities(self.host, offered, deny, config.allow, (), own)

    def _make_rules(self) -> RuleStore | None:
        consent = self.dispatcher.consent
        consent.attendance.watch(self.capabilities.attend)
        return RuleStore(consent, self.capabilities) if self.config.rules else None

    def _make_service(self) -> Service:
        if self.records is not None:
            required = self.config.records == "required"
            recorder = Recorder(self.host.identity.kind, self.records, required=required)
            self.dispatcher.ended.watch(recorder.call_ended)
            if required:
                self.dispatcher.begins = recorder.call_begins
            self._recorder = recorder
        return Service(
            self.host,
            __version__,
            self.tools,
            self.prompts,
            self.resources,
            self.capabilities,
            self.roots,
            self.dispatcher,
            self.jobs,
            recorder=self._recorder,
            enable_prompts=self.config.enable_prompts,
            capture_missing=self.config.capture_missing_capabilities,
            capture_intent=self.config.capture_intent,
        )

    def _make_updates(self) -> ResourceUpdates:
        subscriptions, by_tools = self.endpoint.subscriptions, self.dispatcher.resource_updated
        return ResourceUpdates(self.resources, subscriptions, self.guest.loop, by_tools)

    def _make_endpoint(self) -> McpEndpoint:
        return McpEndpoint(
            self.service,
            self.service.topics,
            self.tools.schema_of,
            limit=self.config.max_sessions,
            idle_seconds=self.config.session_idle_secs,
        )

    @cached_property
    def controls(self) -> Controls:
        """The contents and the actions of a panel. Use them from any thread. They are made on first
        use, so that a host without a panel doesn't import their code."""
        from callboard.panel.controls import Controls
        from callboard.panel.view import ServedView

        view = ServedView(
            self.host,
            self.dispatcher,
            self.endpoint,
            self.tools,
            self.capabilities,
            self.roots,
            self.catalog,
            self.bundles,
            self.clients,
            lambda: self.url,
            self._not_kept,
        )
        return Controls(
            view,
            self.host,
            self.guest.loop,
            self.dispatcher,
            self.capabilities,
            self.roots,
            self.prompts,
            self.catalog,
            self.clients,
            self.jobs,
            self.records,
            self._instance,
        )

    @cached_property
    def rest(self) -> RestEndpoint:
        """The endpoint under ``/v1``, created at the first request to it."""
        from callboard.rest.artist_routes import artist_routes
        from callboard.rest.capability_switches import offering_routes
        from callboard.rest.endpoint import RestEndpoint
        from callboard.rest.selftest_route import selftest_route
        from callboard.rest.stop_route import stop_route

        own = (stop_route(self.dispatcher), selftest_route(lambda: self.controls.self_test))
        artists = artist_routes(lambda: self.controls, self.id)
        others = (*offering_routes(self.capabilities), *own, *artists)
        reread = self.clients.reread
        return RestEndpoint(self.id, self.service, self.catalog, self._report, reread, others)

    @cached_property
    def _workflows(self) -> Workflows:
        """The runs of workflows, made on first use. Use them on the server's loop."""
        from callboard.jobs.workflows.runs import Workflows

        return Workflows(self.dispatcher, self.jobs, self.catalog, data_folder() / "workflows")

    def start(self) -> Callboard:
        """Load the skills, open the port and serve. Runs on the main thread. Raises OSError when
        the port is taken. If an exception is raised, nothing is left running."""
        if not self.config.locks.enabled:
            self.guest.close()
            raise PolicyError(switched_off(self.config.locks.policy))
        with ExitStack() as began:
            self._start(began)
            self._ending = began.pop_all()
        return self

    def _start(self, began: ExitStack) -> None:
        self.log.attach()
        began.callback(self.log.detach)
        if self.records is not None:
            self.records.open()
            began.callback(self.records.close)
        if self.records is not None or self.config.locks.log_level:
            redactor = Redactor() if self.records is None else self.records.redactor
            file = LogFile(f"{self.host.identity.kind}-{self.id}", redactor.text)
            file.attach(self.config.locks.log_level)
            began.callback(file.detach)
            self._log_file = file
        if self.records is not None and (self._export is not None or self.config.records_to):
            from callboard.records.sinks import exporters

            for exporter in exporters(self.records.folder, self.config, self._export):
                exporter.start()
                began.callback(exporter.close)
        output.attach(stop_here)
        began.callback(output.detach, stop_here)
        began.callback(self.skills.close)
        began.callback(self._skill_resources.close)
        began.callback(self.guest.close)
        self._listener.bind(self.config.port)
        began.callback(lambda: self.guest.run(self._close()))
        began.callback(self.dispatcher.close)
        began.callback(self._close_workflows)
        began.callback(self.capabilities.close)
        self._scene.file = self.host.scene_file()
        self.roots.set_project(project := self.host.project_roots())
        self._use_rules(project)
        self._note_place(project)
        self._offer()
        self._listen()
        began.callback(self.host.watch(self._host_event))
        self.guest.start()
        self._tell_of_changes(began)
        for work in self.skills.deferred():
            self.guest.loop.call_soon_threadsafe(self.guest.loop.run_in_executor, None, work)
        # Bundled skills don't change while the server runs, and installed bundles are watched
        # elsewhere.
        shipped = {BUNDLED, *map(Path, self.host.skill_paths)}
        own = [path for path in self._skill_paths if path not in shipped]
        watcher = self.skills.watcher(own, self.config.poll_skills)
        if watcher is not None:
            watcher.start()
            began.callback(watcher.stop)
        if self.config.announce:
            self._announcement.begin(self._instance())
            began.callback(self._announcement.end)

    def _listen(self) -> None:
        self._started = time()
        access = self._make_access()
        self._listener.route("/mcp", self.endpoint)
        self._listener.route("/v1/", lambda exchange: self.rest(exchange))
        self.dispatcher.ends = _ENDS
        self._listener.sweeps.watch(self.endpoint.sessions.expire)
        self._listener.sweeps.watch(self._policy.check)
        self._listener.sweeps.watch(self.clients.reread)
        self.clients.revoked.watch(lambda who: self.guest.loop.call_soon(self._end_client, who))
        if self.config.skills:
            self._listener.sweeps.watch(self.bundles.refresh)
        self.guest.run(self._listener.start(access))

    def _make_access(self) -> Access:
        """Return the rules for access to the listener's current port."""
        if self.config.auth == "token" and self.token is None:
            self.token = new_token()
        find: Callable[[str], TokenHolder | None] = self.clients.find
        if self.records is not None:
            find = self.records.hiding(find, self.token)
        hosts, origins = self.config.allowed_hosts, self.config.allowed_origins
        self.url = f"http://127.0.0.1:{self._listener.port}/mcp"
        return Access(self._listener.port, self.token, find, hosts=hosts, origins=origins)

    async def _policy_changed(self) -> None:
        """Apply the machine's new policy, or close the port if the policy requires it."""
        in_thread = self.guest.loop.run_in_executor
        try:
            config = await in_thread(None, under_policy, self._given)
            why = "" if config.locks.enabled else switched_off(config.locks.policy)
            why = why or needs_restart(self.config, config)
        except SettingsError as error:
            why = error.message
        if why:
            log.warning("%s", why)
            self._announcement.end()
            await self.dispatcher.switch_off(why)
            await self._listener.close_port()
            return
        had_no_token = self.token is None
        self.config = config
        self._use_policy()
        if had_no_token != (config.auth == "none"):
            self._listener.access = self._make_access()
            self._end_client(ANYONE)
        if config.skills:
            await in_thread(None, self.catalog.refresh)
            self.bundles.look_again()
        if not self._listener.is_open:
            try:
                self._listener.bind(self._listener.port)
            except OSError:  # Another program has taken the port in the meantime.
                self._listener.bind(0)
            await self._listener.open_port(self._make_access())
            await self.dispatcher.switch_off("")
        if config.announce:
            self._announcement.begin(self._instance())

    def _end_client(self, holder: TokenHolder) -> None:
        """End everything that belongs to a revoked client: its sessions, connections, jobs and
        calls."""
        self.endpoint.end(holder)
        self._listener.end(holder)
        self.jobs.end(lambda client: client == holder)
        self.dispatcher.consent.forget_client(holder)
        self.roots.forget_client(holder)
        for call in list(self.dispatcher.calls.values()):
            if call.request.peer.holder == holder and call.task is not None:
                call.task.cancel()

    def _tell_of_changes(self, began: ExitStack) -> None:
        """Notify clients of changes from now on."""
        tell = self._tell
        began.callback(self.tools.watch(partial(tell, "tools")))
        began.callback(self.capabilities.watch(partial(tell, "tools")))
        began.callback(self.prompts.watch(partial(tell, "prompts")))
        began.callback(self.resources.watch(partial(tell, "resources")))
        began.callback(self._updates.watch())

    def stop(self) -> None:
        """End every call and connection and release everything. Runs on the main thread.
        Idempotent."""
        self._ending.close()

    async def _close(self) -> None:
        await self.dispatcher.end_all()
        await self.bundles.close()
        self.jobs.close()
        self.endpoint.close()
        await self._listener.stop()

    def _close_workflows(self) -> None:
        if "_workflows" in self.__dict__:
            self._workflows.close()

    def _offer(self) -> None:
        """Add the tools and resources that exist before any client connects."""
        if self.config.skills:
            self.bundles.start()
            self.skills.start()
            self.tools.add(batch_tool(), *undo_tools(self.dispatcher))
            self.tools.add(*catalog_tools(self.catalog, self.capabilities))
            files = file_tools(self.bundles.workspaces)
            self.tools.add(*workflow_tools(lambda: self._workflows), *files)
            self.resources.add(file_template(self.bundles.workspaces))
            self._offer_farm()
            skills = ServedSkills(self.catalog)
            self.service.extend(SKILLS, skills.methods)
            self.resources.add(skills.files())
        self.tools.add(*job_tools(self.jobs))
        self.resources.add(job_results(self.jobs))
        left_out = self.roots.left_out
        self.resources.add(
            *live_resources(self.host, self.capabilities, self.catalog, self.log, left_out)
        )
        self.resources.add(waiting_calls(self.dispatcher.consent), *views(self.host))
        if self._report is not None:
            self.resources.add(reports(self._report))

    def _offer_farm(self) -> None:
        if not self.config.farm_scheduler:
            self.tools.explain_absent(_why_no_farm)
            return
        from callboard.mapping.maps import Maps
        from callboard.mapping.tools import farm_tools

        maps = Maps(self.dispatcher, self.jobs, self.config, data_folder() / "farm")
        self.tools.add(*farm_tools(maps))

    def _instance(self) -> instances.Instance:
        who, paths = self.host.identity, tuple(map(str, self.catalog.paths))
        about = (self.id, who.kind, who.name, self.url, self.token, who.pid, self._started)
        ticks = start_ticks(who.pid)
        return instances.Instance(
            *about,
            self._scene.file,
            paths,
            opened=self._scene.opened,
            ticks=ticks,
            version=__version__,
            app_version=who.version,
        )

    def _tell(self, topic: Topic) -> None:
        self.guest.loop.call_soon_threadsafe(self.endpoint.subscriptions.list_changed, topic)

    def _host_event(self, event: HostEvent) -> None:
        if event == "saved":
            self._scene.file = self.host.scene_file()
            self._note_place(self.host.project_roots())
        elif event == "project":
            by_call, folders = self.dispatcher.main.running is not None, self.host.project_roots()
            self._scene.show(self.host.scene_file())
            self._note_place(folders)
            self.guest.loop.call_soon_threadsafe(self._set_project, folders, by_call)
        elif event == "scene":
            self._updates.scene_changed()

    def _not_kept(self) -> list[str]:
        """Return a sentence about each kind of data that can't be saved because of a disk problem.
        Call it from any thread."""
        records = None if self.records is None else self.records.trouble
        return [each for each in (records, self._announcement.trouble) if each is not None]

    def _note_place(self, folders: list[str]) -> None:
        """Note which scene and project are open, for the records of later calls."""
        if self._recorder is not None:
            machine = this_machine()
            place = place_of(self.host.identity, self._scene.file, folders, machine)
            self._recorder.move_to(place)

    def _set_project(self, folders: list[str], by_call: bool) -> None:
        self._announcement.renew(self._instance())
        if self.roots.project_changed(folders, by_call):
            self._use_rules(folders)
            self.bundles.project_changed()

    def _use_rules(self, folders: list[str]) -> None:
        if self._rules is not None:
            self._rules.use(project_of(self.host.identity.kind, folders))


def start(host: Host, config: McpHttpConfig | None = None) -> Callboard:
    """Start a server inside ``host``. Call it on the main thread."""
    return Callboard(host, config).start()


def _why_no_farm(tool: str) -> str | None:
    if not tool.startswith("farm__"):
        return None
    return (
        "isn't offered, because no farm is configured. Have the farm's scheduler named in the "
        "farm_scheduler setting (CALLBOARD_FARM_SCHEDULER), and start callboard again"
    )


def _skill_paths(host: Host, config: McpHttpConfig) -> list[tuple[Path, SkillScope]]:
    if not config.skills:
        return []
    places = (config.skill_paths, None, host.skill_paths, config.locks.site_skill_paths)
    paths = scoped_paths(host.identity.kind, *places)
    # Every bundled tool needs a port, even if a program declares the tool's capabilities.
    return paths if host.ports else [each for each in paths if each[1] != "bundled"]


def _cache_file(config: McpHttpConfig) -> Path | None:
    """Return the file that caches facts about skills between starts, or None if skills are off."""
    return cache_folder() / "skills.json" if config.skills else None
