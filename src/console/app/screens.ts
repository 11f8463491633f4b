import type { ComponentType } from "preact";
import type { IconName } from "../parts/icon.js";
import { texts } from "../texts.js";

/** An entry of the navigation. The screen's code is loaded when the screen is opened for the first time. */
export interface ScreenEntry {
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** The screens in the groups of the navigation. */
export const screenGroups: readonly {
  readonly title: string;
  readonly screens: readonly ScreenEntry[];
}[] = [
  {
    title: texts.nav.rows,
    screens: [
      { name: "data", title: texts.nav.data, icon: "data", load: () => import("../screens/data/data.js") },
      { name: "live", title: texts.nav.live, icon: "live", load: () => import("../screens/live/live.js") },
      { name: "why", title: texts.nav.why, icon: "why", load: () => import("../screens/why/why.js") },
    ],
  },
  {
    title: texts.nav.project,
    screens: [
      {
        name: "schema",
        title: texts.nav.schema,
        icon: "schema",
        load: () => import("../screens/schema/schema.js"),
      },
      {
        name: "operations",
        title: texts.nav.operations,
        icon: "operations",
        load: () => import("../screens/operations/operations.js"),
      },
    ],
  },
  {
    title: texts.nav.access,
    screens: [
      {
        name: "users",
        title: texts.nav.users,
        icon: "users",
        load: () => import("../screens/users/users.js"),
      },
      { name: "keys", title: texts.nav.keys, icon: "keys", load: () => import("../screens/keys/keys.js") },
      { name: "mail", title: texts.nav.mail, icon: "mail", load: () => import("../screens/mail/mail.js") },
    ],
  },
  {
    title: texts.nav.server,
    screens: [
      {
        name: "requests",
        title: texts.nav.requests,
        icon: "requests",
        load: () => import("../screens/requests/requests.js"),
      },
      {
        name: "usage",
        title: texts.nav.usage,
        icon: "usage",
        load: () => import("../screens/usage/usage.js"),
      },
      {
        name: "settings",
        title: texts.nav.settings,
        icon: "settings",
        load: () => import("../screens/settings/settings.js"),
      },
    ],
  },
];

/** The screen with this name, or else the first of the navigation. */
export function screenNamed(name: string): ScreenEntry {
  const all = screenGroups.flatMap(({ screens }) => screens);
  return all.find((entry) => entry.name === name) ?? all[0]!;
}
