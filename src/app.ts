import { consoleRoutes } from "./admin/console/routes.js";
import { adminRoutes, serverRoutes } from "./admin/routes.js";
import { createAnswering } from "./assemble/answering.js";
import type { AppOptions } from "./assemble/app-options.js";
import { endpointRoots, rootOf } from "./assemble/endpoints.js";
import { takeBounds } from "./assemble/lasting.js";
import { createServices, type Services } from "./assemble/services.js";
import { createUpkeep } from "./assemble/upkeep.js";
import { createAuthRequests } from "./auth/auth-requests.js";
import { consoleGuard } from "./auth/callers/console-origin.js";
import { identifiedBy } from "./auth/callers/identified-by.js";
import { authRoutes } from "./auth/routes/routes.js";
import { crossSiteGuard, crossSiteRefusal } from "./auth/sessions/cross-site.js";
import type { OriginPolicy } from "./http/origin.js";
import { Refusal } from "./http/refusal.js";
import { router } from "./http/router.js";
import { createDocumentText } from "./openapi/document-text.js";
import { operationRoutes } from "./operations/routes.js";
import { plannerHere } from "./schema/plan/planner.js";
import { syncEndpoints } from "./sync/routes.js";
import { tableRoutes } from "./tables/routes/routes.js";
import { writesEndpoints } from "./writes/routes.js";

/**
 * Builds the answering of requests and the background work from what the runtime provides. They are the same for every
 * runtime; `docs/architecture.md` follows a request through them.
 */
export async function createApp(options: AppOptions) {
  const { config, publicBaseUrl, consoleUrl } = options;
  const services = await createServices(options);
  const { api, callers, auth, streams } = services;
  const { projects, failed, platform, clientOf } = api;
  const identify = identifiedBy(callers, config.api.max_body_bytes);
  const origins: OriginPolicy = {
    allowed: new Set(config.cors.allowed_origins),
    anyAllowed: config.cors.allow_any_origin,
    own: new URL(publicBaseUrl).origin,
    trustProxy: config.server.trust_proxy,
    cookies: config.auth.cookie_mode,
  };

  const app = newRouter(origins);
  app.route("/auth", authRoutes(platform.log, callers, createAuthRequests(auth.context, identify, clientOf)));

  // If the console has an address of its own, no page of another origin may use what is served there, not even one that
  // `cors.allowed_origins` allows.
  const consoleOrigins: OriginPolicy =
    consoleUrl === null
      ? origins
      : { ...origins, allowed: new Set(), anyAllowed: false, own: new URL(consoleUrl).origin };
  const ownConsole = consoleUrl === null ? null : newRouter(consoleOrigins);
  addAdmin(ownConsole ?? app, options, services, consoleOrigins);

  const { metrics, recorder } = services;
  const server = {
    database: platform.database,
    config,
    callers,
    projects,
    metricsText: () => metrics.render(recorder?.state() ?? null, streams.size),
    documentText: createDocumentText(config, publicBaseUrl),
  };
  app.route("/", serverRoutes(server, identify));
  const endpoints = new Map([...syncEndpoints({ ...api, ...syncOf(services) }), ...writesEndpoints(api)]);
  app.route("/api", tableRoutes(api, endpoints));
  app.route("/ops", operationRoutes(api));

  const routers = ownConsole === null ? [app] : [app, ownConsole];
  for (const each of routers) {
    each.notFound(() => notFound.toResponse());
    each.onError((error) => failed(error).toResponse());
  }
  const paths = routers.flatMap(({ routes }) => routes.map(({ path }) => path));
  const { siteFiles } = options;
  if (siteFiles) {
    // Below them nothing but the server's own endpoints answers.
    const roots = new Set([...endpointRoots, ...paths.map(rootOf)]);
    app.notFound(async (c) => {
      const file = roots.has(rootOf(c.req.path)) ? null : await siteFiles(c.req.raw);
      return file ?? notFound.toResponse();
    });
  }
  const answering = createAnswering(options, services, paths);
  return {
    fetch: answering(app, origins),
    /** Answers requests at the console's own address (`AppOptions.consoleUrl`); null if there is none. */
    consoleFetch: ownConsole && answering(ownConsole, consoleOrigins),
    upkeep: createUpkeep(services),
    providers: auth.context.providers,
    processKeys: services.processKeys,
    lasting: services.lasting,
    /** To be called when this app takes over from an earlier one of the process. */
    takeOver: () => takeBounds(services.lasting, options),
    /** The URL by which calls in the same process name the server. */
    ownUrl: options.loopbackOnly ? "http://127.0.0.1" : publicBaseUrl,
    /** The refusal of a request that a page of another site may have made a browser send; null for any other. */
    crossSiteRefusal: (request: Request) => (origins.cookies ? crossSiteRefusal(origins, request) : null),
    endStreams: () => streams.end(),
  };
}

const notFound = new Refusal("not_found", "no such resource");

type Router = ReturnType<typeof newRouter>;

function newRouter(origins: OriginPolicy) {
  const made = router();
  if (origins.cookies) made.use(crossSiteGuard(origins));
  return made;
}

function addAdmin(admin: Router, options: AppOptions, services: Services, own: OriginPolicy): void {
  const { config, platform, readSchemaFile, surroundings, planner = plannerHere, reload = null } = options;
  const { api, dataApi, adminCallers, recent } = services;
  const auth = services.auth.context;
  const identify = identifiedBy(adminCallers, config.api.max_body_bytes);
  if (config.console.enabled) {
    const files = options.consoleFiles;
    admin.route("/", consoleRoutes({ files, own, requests: createAuthRequests(auth, identify, api.clientOf) }));
    admin.use("/admin/api/*", consoleGuard(own));
  }
  const endpoints = new Map([...syncEndpoints({ ...dataApi, ...syncOf(services) }), ...writesEndpoints(dataApi)]);
  // `push` is for applications that write while they are offline.
  endpoints.delete("push");
  admin.route("/admin/api/data", tableRoutes(dataApi, endpoints));
  admin.route("/admin/api/operations", operationRoutes(dataApi));
  const { projects, cursors } = api;
  admin.route(
    "/admin/api",
    adminRoutes(
      { platform, config, projects, readSchemaFile, cursors, auth, recent, surroundings, planner, reload },
      identify,
    ),
  );
}

function syncOf({ streams, sharedPages, metrics }: Services) {
  return { streams, sharedPages, counts: metrics };
}
