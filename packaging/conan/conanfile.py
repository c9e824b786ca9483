"""The C headers and the C++ reader, header-only, from a release's archive: adatrace::headers, adatrace::reader."""

from conan import ConanFile
from conan.tools.files import copy, get


class Adatrace(ConanFile):
    name = "adatrace"
    license = "MIT OR Apache-2.0"
    description = "ATF v2 function traces: C headers and a reader in C++17"
    topics = ("tracing", "profiling", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def package_id(self):
        self.info.clear()

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def package(self):
        copy(self, "LICENSE-*", self.source_folder, f"{self.package_folder}/licenses")
        copy(self, "*.h", f"{self.source_folder}/atf/include", f"{self.package_folder}/include")
        copy(self, "*.hpp", f"{self.source_folder}/readers/cpp/include", f"{self.package_folder}/include")

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "adatrace-headers")
        for part in ("headers", "reader"):
            self.cpp_info.components[part].set_property("cmake_target_name", f"adatrace::{part}")
            self.cpp_info.components[part].bindirs = []
            self.cpp_info.components[part].libdirs = []
