// Compiles Kaitai Struct descriptions, or reads files with the result: see .ci/kaitai.
//
//     kaitai.js FOLDER OUT     compiles the descriptions for Python and JavaScript
//     kaitai.js read OUT       prints the events of each file on standard input, a line each
const fs = require("fs");
const path = require("path");

async function compile(folder, out) {
  const compiler = require("kaitai-struct-compiler");
  const yaml = require("js-yaml");
  for (const [language, target] of [["python", "python-code"], ["javascript", "javascript-code"]]) {
    fs.mkdirSync(path.join(out, target), { recursive: true });
    for (const name of fs.readdirSync(folder).filter((name) => name.endsWith(".ksy"))) {
      const description = yaml.load(fs.readFileSync(path.join(folder, name), "utf8"));
      const files = await compiler.compile(language, description, null, false);
      for (const [file, text] of Object.entries(files)) {
        fs.writeFileSync(path.join(out, target, file), text);
      }
    }
  }
}

function read(out) {
  const { KaitaiStream } = require("kaitai-struct");
  const code = path.resolve(out, "javascript-code");
  const [AtfIndex, AtfDetail] = ["AtfIndex", "AtfDetail"].map((name) => {
    const module = require(path.join(code, name));
    return module[name] ?? module;
  });
  for (const file of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    let answer;
    try {
      const stream = new KaitaiStream(fs.readFileSync(file));
      answer = file.endsWith("detail.atf")
        ? new AtfDetail(stream).events.list.map((event) => [
            event.header.timestamp,
            Buffer.from(event.payload.bytes).toString("hex"),
          ])
        : new AtfIndex(stream).events.map((event) => [
            event.timestampNs,
            event.functionId,
          ]);
    } catch (error) {
      answer = String(error);
    }
    console.log(JSON.stringify(answer));
  }
}

const [first, out] = process.argv.slice(2);
if (first === "read") {
  read(out);
} else {
  compile(first, out);
}
