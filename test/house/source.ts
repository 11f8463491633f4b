import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { type ESTree, parseSync } from "rolldown/utils";

/** A file of src, as far as its neighbours see it. */
export interface Source {
  /** Below src, with `/`. */
  readonly path: string;
  readonly text: string;
  /** How many lines the file has. */
  readonly lines: number;
  /** Paths of the files of src that it imports or re-exports from, in whatever way: for types alone and `import()` too. */
  readonly imports: readonly string[];
  /** The names that it imports or re-exports, a file and a name each; `*` stands for all names of a file. */
  readonly reads: readonly Read[];
  /** What its top level declares, one entry a name. */
  readonly declared: readonly Declared[];
}

/** A name of another file that a file uses. */
export interface Read {
  readonly path: string;
  readonly name: string;
}

export interface Declared {
  readonly name: string;
  readonly kind: "function" | "class" | "const" | "type";
  readonly exported: boolean;
  /** Whether a docstring stands before it; of an overloaded function, before one of its signatures. */
  readonly documented: boolean;
  /** What a type stands for, without comments and spaces. */
  readonly shape: string;
}

/**
 * The TypeScript and JavaScript files of a folder, with all that is below it.
 * @param below the folder that paths and imports are relative to, `root` by default
 */
export function readSources(root: string, below = root): Source[] {
  const texts = new Map(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|tsx|js)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(below, file).replaceAll("\\", "/"), readFileSync(file, "utf8")] as const),
  );
  return [...texts]
    .map(([path, text]) => parseSource(path, text, (target) => texts.has(target) || existsSync(join(below, target))))
    .sort(byPath);
}

function byPath(a: Source, b: Source): number {
  return a.path < b.path ? -1 : 1;
}

/**
 * @param exists says which paths below src are files
 * @throws Error where the text is not TypeScript
 */
export function parseSource(path: string, text: string, exists: (path: string) => boolean): Source {
  const { program, module, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const specifiers = [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  const reads = [
    ...module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName }) => ({ from: moduleRequest.value, name: importName.name ?? "*" })),
    ),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, importName }) =>
        moduleRequest === null ? [] : [{ from: moduleRequest.value, name: importName.name ?? "*" }],
      ),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      from: text.slice(start + 1, end - 1),
      name: "*",
    })),
  ];
  const exported = new Set(
    module.staticExports.flatMap(({ entries }) =>
      entries.filter((entry) => entry.moduleRequest === null).map((entry) => entry.localName.name),
    ),
  );

  /** Line comments may stand between a docstring and what it is of. */
  function isDocumented(start: number): boolean {
    const last = comments.filter((comment) => comment.end <= start && comment.type === "Block").at(-1);
    if (!last?.value.startsWith("*")) return false;
    return (
      text
        .slice(last.end, start)
        .replace(/\/\/.*$/gm, "")
        .trim() === ""
    );
  }

  function withoutComments(start: number, end: number): string {
    const inside = comments.filter((comment) => comment.start >= start && comment.end <= end);
    const begins = [start, ...inside.map((comment) => comment.end)];
    const ends = [...inside.map((comment) => comment.start), end];
    return begins.map((begin, i) => text.slice(begin, ends[i])).join("");
  }

  const declared = program.body.flatMap((statement) =>
    namesOf(statement).map(({ id, kind, end }) => ({
      name: id.name,
      kind,
      exported: exported.has(id.name),
      documented: isDocumented(statement.start),
      shape: kind === "type" ? withoutComments(id.end, end).replace(/\s/g, "") : "",
    })),
  );
  return {
    path,
    text,
    lines: text.split("\n").length - 1,
    imports: [...new Set(specifiers.flatMap((specifier) => resolved(path, specifier, exists)))],
    reads: reads.flatMap(({ from, name }) => resolved(path, from, exists).map((file) => ({ path: file, name }))),
    declared: merged(declared),
  };
}

/** None for a package, and for what is not a file of src. */
function resolved(from: string, specifier: string | undefined, exists: (path: string) => boolean): string[] {
  if (!specifier?.startsWith(".")) return [];
  const target = posix.join(posix.dirname(from), specifier);
  const candidates = [".ts", ".tsx"].map((ending) => target.replace(/\.js$/, ending));
  return [...candidates, target].filter(exists).slice(0, 1);
}

interface Name {
  readonly id: { readonly name: string; readonly end: number };
  readonly kind: Declared["kind"];
  /** Where its declaration ends. */
  readonly end: number;
}

function namesOf(statement: ESTree.Directive | ESTree.Statement): Name[] {
  switch (statement.type) {
    case "ExportNamedDeclaration":
      return statement.declaration ? namesOf(statement.declaration) : [];
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return statement.id ? [{ id: statement.id, kind: "function", end: statement.end }] : [];
    case "ClassDeclaration":
      return statement.id ? [{ id: statement.id, kind: "class", end: statement.end }] : [];
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSEnumDeclaration":
      return [{ id: statement.id, kind: "type", end: statement.end }];
    case "VariableDeclaration":
      return statement.declarations.flatMap(({ id, init, end }) =>
        boundNames(id).map((name) => ({
          id: name,
          kind: init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression" ? "function" : "const",
          end,
        })),
      );
    default:
      return [];
  }
}

/** The names that a pattern binds, `const { a, b: [c] } = ...` three of them. */
function boundNames(pattern: ESTree.BindingPattern | ESTree.BindingRestElement): ESTree.BindingIdentifier[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "AssignmentPattern":
      return boundNames(pattern.left);
    case "RestElement":
      return boundNames(pattern.argument);
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? boundNames(element) : []));
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === "RestElement" ? property : property.value),
      );
  }
}

/** One entry a name: the signatures of a function are one, and so are a type and the value of its name. */
function merged(declared: readonly Declared[]): Declared[] {
  const byName = new Map<string, Declared>();
  for (const one of declared) {
    const other = byName.get(one.name);
    byName.set(
      one.name,
      other ? { ...other, documented: other.documented || one.documented, shape: other.shape + one.shape } : one,
    );
  }
  return [...byName.values()];
}
