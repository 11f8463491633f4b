import type { ComponentChildren } from "preact";
import type { SettingsInForce } from "../../../wire/settings.js";
import { Badge } from "../../parts/badge.js";
import { Copyable } from "../../parts/copy.js";
import { LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { Text } from "../../parts/text.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { requestData } from "../../server/request-data.js";
import { texts } from "../../texts.js";
import { ReloadCard } from "./reload-card.js";

/** The settings of the running server, without secrets. They are changed in svc.toml. */
export default function Settings() {
  const found = useLoaded((signal) => requestData<SettingsInForce>("GET", "/settings", undefined, { signal }), []);
  return (
    <Screen title={texts.nav.settings}>
      <p class="lead">{texts.settings.lead}</p>
      <LoadedView of={found}>
        {({ settings, providers, release, runtime }) => (
          <div class="cards">
            <Card title={texts.settings.server}>
              <dl class="facts">
                <dt>{texts.settings.release}</dt>
                <dd class="mono">{release}</dd>
                <dt>{texts.settings.runtime}</dt>
                <dd class="mono">{runtime}</dd>
              </dl>
            </Card>
            {runtime === "node" && <ReloadCard onReloaded={found.reload} />}
            <Card title={texts.settings.providers}>
              {providers.length === 0 && <p class="muted">{texts.settings.noProviders}</p>}
              {providers.map(({ provider, callback_url: url, has_credentials: isReady }) => (
                <div class="provider" key={provider}>
                  <p>
                    <b>{provider}</b>{" "}
                    <Badge kind={isReady ? "good" : "warn"}>
                      {isReady ? texts.settings.ready : texts.settings.noCredentials}
                    </Badge>
                  </p>
                  <Copyable text={url} />
                  {!isReady && <pre class="code">{texts.settings.providerCommand(provider)}</pre>}
                </div>
              ))}
            </Card>
            {Object.entries(settings).map(([name, section]) => (
              <Card key={name} title={name} isCode>
                {isSection(section) ? <Facts of={section} /> : <Plain value={section} />}
              </Card>
            ))}
          </div>
        )}
      </LoadedView>
    </Screen>
  );
}

interface CardProps {
  readonly title: string;
  readonly isCode?: boolean;
  readonly children: ComponentChildren;
}

function Card({ title, isCode = false, children }: CardProps) {
  return (
    <section class="card">
      <h2 class={isCode ? "mono" : ""}>{isCode ? `[${title}]` : title}</h2>
      {children}
    </section>
  );
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function Facts({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const flat = flattened(of);
  if (flat.length === 0) return <p class="muted">{texts.settings.nothing}</p>;
  return (
    <dl class="facts">
      {flat.map(([name, value]) => (
        <div class="fact" key={name}>
          <dt class="mono">{name}</dt>
          <dd class="mono">
            <Plain value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * The settings of a section by dotted names. An object with `is_set` is kept whole: it stands for a secret, and says
 * only which environment variable holds it and whether that is set.
 */
function flattened(section: Readonly<Record<string, unknown>>, prefix = ""): readonly (readonly [string, unknown])[] {
  return Object.entries(section).flatMap(([name, value]) =>
    isSection(value) && !("is_set" in value)
      ? flattened(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as const],
  );
}

function Plain({ value }: { readonly value: unknown }) {
  if (isSection(value) && "is_set" in value)
    return (
      <>
        {typeof value.variable === "string" && <Text value={`${value.variable} `} />}
        <Badge kind={value.is_set ? "good" : "plain"}>
          {value.is_set ? texts.settings.set : texts.settings.notSet}
        </Badge>
      </>
    );
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0))
    return <span class="muted">–</span>;
  if (Array.isArray(value)) return <Text value={value.map(String).join(", ")} />;
  return <Text value={typeof value === "string" ? value : JSON.stringify(value)} />;
}
