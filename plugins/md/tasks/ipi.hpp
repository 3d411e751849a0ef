#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/structures/structure_input.hpp"
#include "core/plugin/potential.hpp"
#include "core/plugin/task.hpp"

namespace cambium::md {

class IpiSocket;

/// Stage that computes forces for another program (i-PI, ASE) by the i-PI socket protocol until that program sends
/// EXIT: V. Kapil et al., Comput. Phys. Commun. 236, 214 (2019). The program sends cells and positions; the reply has
/// energy, forces and virial, computed on all ranks of the run.
class Ipi : public Task {
 public:
  struct Params {
    StructureInput structure;
    deck::Choice<Potential> potential;
    std::string unix_socket;
    std::string host = "localhost";
    int port = 31415;
    double timeout = 60.0;
    static void describe(deck::Describe<Params>& d) {
      d("structure", &Params::structure, "species of the atoms, in the server's order; its positions are not used");
      d("potential", &Params::potential, "interaction of the atoms");
      d("unix_socket", &Params::unix_socket,
        "name of a UNIX socket, for the file ipi_NAME in /tmp, or its path; when empty TCP to host and port")
          .def("")
          .example("copper");
      d("host", &Params::host, "host of the server, for TCP").def("localhost");
      d("port", &Params::port, "port of the server, for TCP").at_least(1).def(31415);
      d("timeout", &Params::timeout, "time to wait for the server at the start").unit("s").non_negative().def(60.0);
    }
  };

  Ipi(const Params& params, Context& context);

  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {atoms_, "atom", evaluations_}; }
  std::vector<Result> results() const override;
  std::vector<Citation> citations() const override;

 private:
  struct Request;
  Request receive(IpiSocket& socket) const;

  Params params_;
  std::unique_ptr<Potential> potential_;
  std::int64_t atoms_ = 0, evaluations_ = 0;
};

}  // namespace cambium::md
