#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "core/io/structures/frame.hpp"

namespace cambium::io {

/// One frame as extended XYZ text: a line with the number of particles, a line with Lattice, Properties, Step, Time
/// (ps), pbc and, if the frame has them, energy (eV) and stress (eV/Å^3, -virial / volume, without the kinetic part:
/// ASE's sign and meaning), then one particle per line in the order of ids: symbol, position (Å), and if the frame has
/// them velocity as velo (Å/ps), force as forces (eV/Å) and momentum as momenta (sqrt(eV g/mol), ASE's unit; ASE
/// ignores velo). A cell whose corner is not at zero has the key Origin.
std::string extxyz_text(const Frame& frame);

/// Collective: appends the same text of a distributed frame to `path`; each rank writes its part at its offset.
/// InputError on every rank if one cannot write.
void append_extxyz(const std::string& path, const FrameShare& share, const Comm& comm);

/// A growing trajectory of such frames, which OVITO and ASE open. One rank owns the file.
class ExtxyzFile {
 public:
  /// With `resumed_at`, frames up to that step of an earlier run stay, and later and half-written ones are dropped.
  explicit ExtxyzFile(std::string path, std::optional<std::int64_t> resumed_at = {});
  ~ExtxyzFile();
  ExtxyzFile(const ExtxyzFile&) = delete;
  ExtxyzFile& operator=(const ExtxyzFile&) = delete;

  /// Adds a frame; it has reached the operating system when this returns.
  void append(const Frame& frame);

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace cambium::io
