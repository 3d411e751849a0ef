#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/deck/describe.hpp"
#include "core/io/structures/extxyz.hpp"
#include "core/io/structures/h5md.hpp"
#include "core/plugin/writer.hpp"

namespace cambium {

/// True if there is a file at `path` that HDF5 can open. One left by a program killed in the middle of a frame is
/// renamed, with a warning: its content is lost, but the run can resume.
bool readable_or_put_aside(const std::string& path, Log& log);

/// Trajectory in H5MD 1.1; see io::H5mdFile for its contents. Readers of H5MD take no species from it, so the first
/// frame is also written to <name>.pdb in the same folder, with names and elements:
/// MDAnalysis.Universe("trajectory.pdb", "trajectory.h5md").
class H5mdWriter : public Writer {
 public:
  struct Params {
    std::int64_t every = 100;
    std::string file = "trajectory.h5md";
    bool velocities = false, forces = false;
    Precision precision = Precision::float64;
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "steps between two frames").at_least(1).def(100);
      d("file", &Params::file, "name of the file in the run directory").def("trajectory.h5md");
      d("velocities", &Params::velocities, "also write velocities (Å/ps)").def(false);
      d("forces", &Params::forces, "also write forces (stored in kJ/(mol Å), the unit that H5MD readers expect)")
          .def(false);
      d("precision", &Params::precision,
        "floating-point precision of positions, velocities and forces; single halves the file size")
          .options({{"double", Precision::float64}, {"single", Precision::float32}})
          .def(Precision::float64);
      d("compress", &Params::compress,
        "compression of positions, velocities and forces, lossless or within an error bound for each component");
      d.check([](const Params& p) { return io::problem_without_first_frame(p.compress); });
    }
  };
  H5mdWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  std::int64_t every() const override { return params_.every; }
  bool shows_end() const override { return true; }
  void observe(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {params_.file, names_file()}; }

 private:
  std::string path() const;
  std::string names_file() const;
  io::H5mdFile::Content content() const;

  Params params_;
  Context& context_;
  std::unique_ptr<io::H5mdFile> file_;  ///< rank 0, from the first frame on
};

/// Trajectory in extended XYZ; see io::extxyz_text() for its contents.
class ExtxyzWriter : public Writer {
 public:
  struct Params {
    std::int64_t every = 100;
    std::string file = "trajectory.extxyz";
    bool velocities = false, forces = false;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "steps between two frames").at_least(1).def(100);
      d("file", &Params::file, "name of the file in the run directory").def("trajectory.extxyz");
      d("velocities", &Params::velocities, "also write velocities (Å/ps), as velo, and momenta, which ASE reads")
          .def(false);
      d("forces", &Params::forces, "also write forces (eV/Å), as forces").def(false);
    }
  };
  ExtxyzWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  std::int64_t every() const override { return params_.every; }
  bool reads_totals() const override { return true; }
  bool shows_end() const override { return true; }
  void observe(const State& state, std::int64_t step, double time) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  std::string path() const;

  Params params_;
  Context& context_;
  std::unique_ptr<io::ExtxyzFile> file_;  ///< rank 0, from the first frame on
};

}  // namespace cambium
