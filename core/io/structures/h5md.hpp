#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/io/structures/frame.hpp"

namespace cambium::io {

/// A trajectory in H5MD 1.1 (de Buyl, Colberg, Höfling, Comput. Phys. Commun. 185, 1546 (2014)) with the units module:
///   /h5md                              version, author, creator
///   /particles/trajectory              the group name that MDAnalysis looks for
///     box/edges, position, image[, velocity][, force]   series {step, time, value}; step and time are shared
///     species (enumeration), id, mass                   fixed in time
/// Positions are in the cell and relative to its corner, unwrapped = position + image . edges. Units: Angstrom, ps,
/// Angstrom ps-1, g mol-1 and, because readers know no other, kJ mol-1 Angstrom-1 for forces. Unit attributes are
/// variable-length text, although the specification requires fixed length: MDAnalysis reads only that. One rank owns
/// the file.
class H5mdFile {
 public:
  struct Content {
    FrameParts parts;
    bool single_precision = false;  ///< of the series
    std::optional<Compression> compress = {};
  };

  /// A new file, made with the first frame.
  H5mdFile(const std::string& path, const Content& content, const Provenance& provenance, const Frame& first);
  /// An existing file without its frames after `last_step`. InputError when it holds other particles or series.
  H5mdFile(const std::string& path, const Content& content, std::int64_t last_step);

  /// Adds a frame; it has reached the operating system when this returns.
  void append(const Frame& frame);
  /// How much smaller the series are stored, for the log.
  std::string stored_line(const std::string& shown) const;

 private:
  void make_series(const Frame& first);
  std::vector<std::string> series() const;

  Content content_;
  File file_;
};

/// eV/Å in kJ/(mol Å): the elementary charge times Avogadro's number, both exact in the SI of 2019.
constexpr double kj_per_mol = 96.48533212331001;

}  // namespace cambium::io
