#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/plugin/writer.hpp"

namespace cambium::superres {

/// Fields at cell centres over time as plain HDF5 in the layout of Dedalus: /tasks/{p,b,u,w} by (t, x, z), /scales/x,
/// /scales/z, /scales/sim_time, /scales/iteration, /scales/write_number. In three dimensions {p,b,u,v,w} by
/// (t, x, y, z), and /scales/y. Attributes of the file: Rayleigh, Prandtl and, between plates, plates.
class FieldsWriter : public Writer {
 public:
  struct Params {
    std::string file;
    double interval = 0.0;
    bool single = true;
    int average = 1;
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Params>& d) {
      d("file", &Params::file, "name in the folder of the stage").def("fields.h5");
      d("interval", &Params::interval,
        "free-fall times between two frames; give the physics the same 'sample_interval' to have them at exact "
        "multiples")
          .positive();
      d("single", &Params::single, "store single precision").def(true);
      d("average", &Params::average,
        "cells along every axis whose mean is one point of the file; 1: every cell. The file is then that of a "
        "filtered run on a grid that many times coarser")
          .at_least(1)
          .def(1);
      d("compress", &Params::compress,
        "store the fields smaller, without loss or within a bound of error that holds for every value");
    }
  };
  FieldsWriter(const Params& params, Context& context) : params_(params), context_(context) {}
  std::int64_t every() const override { return 1; }
  void observe(const State& state, std::int64_t step, double time) override;
  bool shows_end() const override { return true; }
  void observe_end(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  std::string path() const;
  struct CentredFields fields_of(const State& state) const;
  void create(const State& state, const struct CentredFields& fields);

  Params params_;
  Context& context_;
  std::optional<io::File> file_;  ///< rank 0, from the first frame on
  double next_ = 0.0;             ///< a frame is due at this time
  double seen_ = -1.0;            ///< time of the newest frame in the file
  std::int64_t frames_ = 0;
};

}  // namespace cambium::superres
