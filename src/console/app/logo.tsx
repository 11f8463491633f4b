/** The logo of svc. Screen readers skip it, because the name stands next to it. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 11h14M9 16h14M9 21h8" />
    </svg>
  );
}
