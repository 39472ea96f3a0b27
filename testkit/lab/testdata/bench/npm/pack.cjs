// Packs the folder named by the first argument into the file named by the second with repomix's own defaults: with its
// security check, and with its token count if the third is "tokens". Its command has no switch for the latter, so this
// calls what the command calls, and spares it the reading of flags and the report.
const { join } = require("node:path");

require("node:module").enableCompileCache?.();

(async () => {
  const [folder, out, count] = process.argv.slice(2);
  const lib = join(__dirname, "node_modules", "repomix", "lib");
  const { pack } = await import(join(lib, "core", "packager.js"));
  const { mergeConfigs } = await import(join(lib, "config", "configLoad.js"));
  const given = { output: { filePath: out }, security: { enableSecurityCheck: true } };
  const taskRunner = { run: async () => 0, cleanup: async () => {} };
  const uncounted = {
    createMetricsTaskRunner: () => ({ taskRunner, warmupPromise: Promise.resolve() }),
    calculateMetrics: async () => ({}),
  };
  await pack([folder], mergeConfigs(process.cwd(), {}, given), () => {}, count === "tokens" ? {} : uncounted);
})();
