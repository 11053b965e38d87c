// Whether OpenClaw may put MEMORY.md and USER.md of a workspace into each prompt: it asks the memory plugin where they come from.

import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const CURATED = new Set(["MEMORY.md", "memory.md", "USER.md"]);

/** The origin class of a memory file: "agent", unless OpenClaw recorded another one or the file lies elsewhere. */
async function originOf(workspaceDir, relativePath) {
  const places = [workspaceDir, join(workspaceDir, relativePath)].map((path) => realpath(path)); // a link may lead elsewhere
  const [workspace, file] = await Promise.all(places);
  if (dirname(file) !== workspace || !CURATED.has(basename(file))) return "untrusted";
  const { readMemoryArtifactProvenance } = await import("openclaw/plugin-sdk/memory-core-host-runtime-core");
  const recorded = await readMemoryArtifactProvenance({ workspaceDir, relativePath: basename(file) });
  return recorded?.originClass ?? "agent";
}

export const classified = ({ workspaceDir, relativePaths }) =>
  Promise.all(relativePaths.map(async (relativePath) => ({ relativePath, originClass: await originOf(workspaceDir, relativePath) })));
