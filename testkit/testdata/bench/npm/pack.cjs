// Packs the folder named by the first argument into the file named by the second with repomix's own defaults, but
// without security check and without token count. Its command has no switch for the latter, so this calls what the
// command calls, and spares it the reading of flags and the report.
const { join } = require("node:path");

require("node:module").enableCompileCache?.();

(async () => {
  const [folder, out] = process.argv.slice(2);
  const lib = join(__dirname, "node_modules", "repomix", "lib");
  const { pack } = await import(join(lib, "core", "packager.js"));
  const { mergeConfigs } = await import(join(lib, "config", "configLoad.js"));
  const given = { output: { filePath: out }, security: { enableSecurityCheck: false } };
  const taskRunner = { run: async () => 0, cleanup: async () => {} };
  await pack([folder], mergeConfigs(process.cwd(), {}, given), () => {}, {
    createMetricsTaskRunner: () => ({ taskRunner, warmupPromise: Promise.resolve() }),
    calculateMetrics: async () => ({}),
  });
})();
