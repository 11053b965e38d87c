// Stand-in for OpenCode: loads the plugin, runs the hooks that stdin names in order, and prints their outputs, as JSON.

import { pathToFileURL } from "node:url";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { plugin, children, steps } = JSON.parse(Buffer.concat(chunks).toString("utf8"));

const session = { get: async ({ path }) => ({ data: { parentID: children.includes(path.id) ? "parent" : undefined } }) };
const { Clawmem } = await import(pathToFileURL(plugin));
const hooks = await Clawmem({ client: { session }, directory: process.cwd() });

const outputs = [];
for (const { hook, input, output } of steps) {
  await hooks[hook](input, output);
  outputs.push(output ?? null);
}
console.log(JSON.stringify(outputs));
