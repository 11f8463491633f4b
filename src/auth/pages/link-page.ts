import { escapeHtml } from "../../encoding/html.js";
import { hostedPages } from "../links/link-url.js";
import type { LinkPurpose } from "../store/links.js";
import type { HtmlPage } from "./html-page.js";

/**
 * The purpose of the links that lead to one of the server's own pages, found by the last part of the page's path; null
 * where there is no such page.
 */
export function purposeOfPage(name: string): LinkPurpose | null {
  const purposes = Object.keys(hostedPages) as LinkPurpose[];
  return purposes.find((purpose) => hostedPages[purpose] === name) ?? null;
}

interface PageWording {
  readonly title: string;
  readonly intro: string;
  readonly button: string;
  readonly takesPassword: boolean;
  readonly doneTitle: string;
  readonly done: string;
}

const wordings: Readonly<Record<LinkPurpose, PageWording>> = {
  email_verification: {
    title: "Confirm your address",
    intro: "Press the button to confirm that the address is yours.",
    button: "Confirm",
    takesPassword: false,
    doneTitle: "Your address is confirmed",
    done: "You can sign in now.",
  },
  invitation: {
    title: "Accept the invitation",
    intro: "Choose a password for your account.",
    button: "Accept",
    takesPassword: true,
    doneTitle: "Welcome",
    done: "Your password is set. You can sign in now.",
  },
  password_reset: {
    title: "Set a new password",
    intro: "You will be signed out everywhere.",
    button: "Set the password",
    takesPassword: true,
    doneTitle: "Your password is set",
    done: "You can sign in with it now.",
  },
  email_change: {
    title: "Change your address",
    intro:
      "Press the button to use this address for your account from now on. You will be signed out on your other devices.",
    button: "Use this address",
    takesPassword: false,
    doneTitle: "Your address is changed",
    done: "Sign in with it from now on.",
  },
};

/** Whether the page that a mailed link leads to asks for a new password. */
export function takesPassword(purpose: LinkPurpose): boolean {
  return wordings[purpose].takesPassword;
}

/** What is needed to make the page that a mailed link leads to, with its form. */
export interface FormPage {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /** The address of the account, which password managers keep with the password; null where the link is not live. */
  readonly email: string | null;
  readonly passwordLengthMin: number;
  /** Why the form is shown again, as a sentence for people; null the first time. */
  readonly problem: string | null;
}

/**
 * Makes the page that a mailed link leads to, with a form. The link is used up when the form is sent, not when the page
 * is opened.
 */
export function formPage({ purpose, token, email, passwordLengthMin, problem }: FormPage): HtmlPage {
  const { title, intro, button } = wordings[purpose];
  const main = [
    ...(problem === null ? [] : [problemText(problem)]),
    `<p>${escapeHtml(intro)}</p>`,
    `<form method="post" action="/auth/pages/${hostedPages[purpose]}">`,
    `<input type="hidden" name="token" value="${escapeHtml(token)}">`,
    ...(email === null ? [] : [addressField(email)]),
    ...(takesPassword(purpose) ? [passwordField(passwordLengthMin, problem !== null)] : []),
    `<button type="submit">${escapeHtml(button)}</button>`,
    "</form>",
  ];
  return { title, main: main.join("\n") };
}

/** It has no name, so the form does not send it. */
function addressField(email: string): string {
  return `<label for="username">Address</label>
<input id="username" type="email" autocomplete="username" value="${escapeHtml(email)}" readonly>`;
}

function passwordField(lengthMin: number, invalid: boolean): string {
  const described = `aria-describedby="${invalid ? "problem " : ""}hint"${invalid ? ' aria-invalid="true"' : ""}`;
  return `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${lengthMin}" ${described}>
<p class="hint" id="hint">At least ${lengthMin} characters.</p>`;
}

/**
 * Makes the page that is shown after a mailed link was used. `onwardTo` is the URL of its link to continue; it comes
 * from the project's files or the invitation, never from the request. Null: the page has no such link.
 */
export function donePage(purpose: LinkPurpose, onwardTo: string | null): HtmlPage {
  const { doneTitle, done } = wordings[purpose];
  const onward = onwardTo === null ? "" : `\n<p><a href="${escapeHtml(onwardTo)}" rel="noreferrer">Continue</a></p>`;
  return { title: doneTitle, main: `<p role="status">${escapeHtml(done)}</p>${onward}` };
}

/** Makes the page that is shown for a link that cannot be used. `problem` is a sentence for people. */
export function problemPage(problem: string): HtmlPage {
  return { title: "This did not work", main: problemText(problem) };
}

function problemText(problem: string): string {
  return `<p class="problem" id="problem" role="alert">${escapeHtml(problem)}</p>`;
}
