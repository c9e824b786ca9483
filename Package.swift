// swift-tools-version:5.5
// The C headers for Swift: `import AtfV1`, `import AtfV2` or `import AtfWire`.
import PackageDescription

let package = Package(
    name: "adatrace",
    products: [.library(name: "AdaTrace", targets: ["AdaTrace"])],
    targets: [.systemLibrary(name: "AdaTrace", path: "atf/include")]
)
