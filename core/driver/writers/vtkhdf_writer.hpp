#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/fields/vtkhdf.hpp"
#include "core/plugin/writer.hpp"

namespace cambium {

/// Fields on grids, meshes and graphs, or particles, of any physics for ParaView; see io::VtkhdfFile for what is in the
/// file.
class VtkhdfWriter : public Writer {
 public:
  enum class Precision { double_, single };
  struct Params {
    std::optional<std::int64_t> every;
    std::optional<double> interval;  ///< in the physics' unit of time
    std::string file = "output.vtkhdf";
    bool velocities = false, forces = false;
    Precision precision = Precision::single;
    static void describe(deck::Describe<Params>& d);
  };
  VtkhdfWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override { physics_ = &physics; }
  std::int64_t every() const override { return params_.interval ? 1 : params_.every.value_or(100); }
  void observe(const State& state, std::int64_t step, double time) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  std::string path() const;
  void expect_after(double time);

  Params params_;
  Context& context_;
  const Physics* physics_ = nullptr;
  std::unique_ptr<io::VtkhdfFile> file_;  ///< rank 0, from the first moment on
  double next_ = 0.0;                     ///< with 'interval': a moment is due at this time
};

}  // namespace cambium
