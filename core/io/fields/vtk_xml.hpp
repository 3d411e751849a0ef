#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "core/io/structures/frame.hpp"
#include "core/particles/grid_fields.hpp"
#include "core/particles/node_fields.hpp"

namespace cambium::io {

/// One frame of a series.
struct Moment {
  std::int64_t step = 0;
  double time = 0.0;
};

/// Time series in the XML formats of VTK ("VTK XML formats" in VTK's documentation), which every release of VTK and
/// ParaView since 2005 reads: NAME.pvd lists the times, NAME.STEP.vti (evenly spaced grids) or NAME.STEP.vtu (other
/// grids, meshes, graphs, particles) holds one frame each, its values as raw bytes after the XML. One rank owns the
/// files.
class VtkXmlSeries {
 public:
  /// Lists the frames of an earlier run, none in a new one. `path` ends in .pvd. InputError if it cannot be written.
  VtkXmlSeries(std::string path, bool single_precision, std::span<const Moment> kept = {});

  /// Writes a frame, completely or not at all, then lists it.
  void append(const GridFields& fields, const Moment& moment);
  void append(const NodeFields& fields, const Moment& moment);
  void append(const Frame& frame);

 private:
  struct Closed {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_of(const Moment& moment, const char* suffix) const;
  void list(const Moment& moment, const std::string& name);
  void write(const Moment& moment, const char* suffix, const std::string& text);

  std::string path_;
  bool single_;
  std::unique_ptr<std::FILE, Closed> file_;
};

}  // namespace cambium::io
