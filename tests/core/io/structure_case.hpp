#pragma once
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/io/structures/extxyz_reader.hpp"
#include "core/io/structures/lammps_data_reader.hpp"

namespace cambium::testing {

/// A file that rank 0 writes and takes away again; every rank has its own name for it, only rank 0's is read.
struct File {
  std::string path;
  explicit File(const std::string& text)
      : path((std::filesystem::temp_directory_path() /
              ("structure_" + std::to_string(::getpid()) + "_" + std::to_string(++made())))
                 .string()) {
    std::ofstream(path) << text;
  }
  ~File() { std::remove(path.c_str()); }
  static int& made() {
    static int count = 0;
    return count;
  }
};

/// The message of reading `text`, without the path in front of it. Rank 0's path is in the text on every rank.
template <class Read>
std::string message(const std::string& text, Read read) {
  const Comm comm;
  const File file(text);
  std::string root_path = file.path;
  comm.broadcast(root_path);
  try {
    read(file.path, comm);
  } catch (const InputError& error) {
    std::string what = error.what();
    for (std::size_t at; (at = what.find(root_path)) != std::string::npos;) what.replace(at, root_path.size(), "FILE");
    return what;
  }
  return "no error";
}

inline std::string xyz_message(const std::string& text, int frame = -1) {
  return message(text, [frame](const std::string& path, const Comm& comm) { io::read_extxyz(path, frame, comm); });
}

inline std::string data_message(const std::string& text, std::vector<std::string> species = {"Cu"}) {
  return message(text, [&](const std::string& path, const Comm& comm) { io::read_lammps_data(path, species, comm); });
}

inline Structure read_xyz(const std::string& text, int frame, const Comm& comm) {
  const File file(text);
  return io::read_extxyz(file.path, frame, comm);
}

inline Structure read_data(const std::string& text, const std::vector<std::string>& species, const Comm& comm) {
  const File file(text);
  return io::read_lammps_data(file.path, species, comm);
}

/// Four atoms of two types in a skewed cell, with images and velocities.
inline const std::string data = R"(LAMMPS data file: two kinds of atoms in a skewed cell

4 atoms
2 atom types
0 bonds

-1.0 9.0 xlo xhi
0.0 8.0 ylo yhi   # a remark
0.5 7.5 zlo zhi
1.5 -0.5 0.25 xy xz yz

Masses

1 63.5
2 58.7

Pair Coeffs # eam/alloy

1 some thing
2 some thing

Atoms # atomic

4 1 0.0 0.0 0.5 0 0 0
2 2 1.0 2.0 3.0 1 -2 0
1 1 4.0 5.0 6.0
3 2 7.0 7.5 7.25 0 0 3

Velocities

1 0.1 0.2 0.3
3 -1 -2 -3
2 4 5 6
4 7 8 9
)";

}  // namespace cambium::testing
