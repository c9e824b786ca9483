// Runs a program of the package for this platform: `require("./adatrace.js")("atf")`.
const { spawnSync } = require("node:child_process");

module.exports = (program) => {
    const platform = `${process.platform}-${process.arch}`;
    let path;
    try {
        path = require.resolve(`@adatrace/${platform}/bin/${program}`);
    } catch {
        const built = Object.keys(require("./package.json").optionalDependencies).join(", ");
        console.error(`${program}: @adatrace/${platform} is not installed, which has the program. There are ${built}; `
            + "npm does not install them with --omit=optional. From source: cargo install");
        process.exit(2);
    }
    const { status, signal, error } = spawnSync(path, process.argv.slice(2), { stdio: "inherit" });
    if (error) {
        console.error(`${program}: ${path}: ${error.message}`);
        process.exit(2);
    }
    if (signal) process.kill(process.pid, signal);
    process.exit(status);
};
