import { circles } from "./circles.js";
import type { Source } from "./source.js";

/** What each node imports. */
export type Graph = Map<string, Set<string>>;

/**
 * The rooms of a folder, which are its subfolders and its own files, and which of them each imports.
 * @param folder below src; "" is src itself
 */
export function roomGraph(folder: string, sources: readonly Pick<Source, "path" | "imports">[]): Graph {
  const start = folder === "" ? "" : `${folder}/`;
  const roomOf = (path: string) => path.slice(start.length).split("/")[0]!;
  const graph: Graph = new Map();
  for (const { path, imports } of sources.filter((source) => source.path.startsWith(start))) {
    const room = roomOf(path);
    const targets = imports
      .filter((target) => target.startsWith(start))
      .map(roomOf)
      .filter((target) => target !== room);
    graph.set(room, new Set([...(graph.get(room) ?? []), ...targets]));
  }
  return graph;
}

/** All folders of src, src itself as "". */
export function foldersOf(sources: readonly Pick<Source, "path">[]): string[] {
  const folders = sources.flatMap(({ path }) => {
    const parts = path.split("/").slice(0, -1);
    return ["", ...parts.map((_, i) => parts.slice(0, i + 1).join("/"))];
  });
  return [...new Set(folders)].sort();
}

/** The circles among the rooms of each folder. */
export function folderCircles(sources: readonly Pick<Source, "path" | "imports">[]): string[] {
  return foldersOf(sources).flatMap((folder) =>
    circles(roomGraph(folder, sources)).map((group) => `${folder || "src"}: ${group.join(" <-> ")}`),
  );
}
