// A file of finished tasks: what was written comes back, what was torn does not.
#include <fstream>
#include <iterator>

#include "core/base/error.hpp"
#include "core/parallel/farm/task_journal.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::tasks;

namespace {

std::vector<std::byte> value(std::int64_t task) {
  return std::vector<std::byte>(10 * task, static_cast<std::byte>(task + 1));
}

/// A journal with tasks 0 to 4.
void write_five(const std::string& path) {
  TaskJournal journal(path, "five", false);
  for (std::int64_t t = 0; t < 5; ++t) journal.add(t, value(t));
  journal.synchronise();
}

}  // namespace

TEST_CASE("finished tasks are there when the journal is opened again") {
  const Scratch scratch("task_journal");
  const auto path = scratch.file("journal");
  write_five(path);
  {
    TaskJournal journal(path, "five", true);
    REQUIRE(journal.finished().size() == 5);
    for (const auto& [task, bytes] : journal.finished()) CHECK(bytes == value(task));
    journal.add(9, value(9));
  }
  CHECK(TaskJournal(path, "five", true).finished().size() == 6);
  CHECK(TaskJournal(path, "five", false).finished().empty());
  CHECK(TaskJournal(path, "five", true).finished().empty());
}

TEST_CASE("wherever a journal is torn, what is read is a beginning of what was written") {
  const Scratch scratch("task_journal");
  const auto path = scratch.file("journal");
  write_five(path);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::size_t before = 5;
  for (std::size_t bytes = whole.size(); bytes-- > 0;) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, bytes);
    const TaskJournal journal(path, "five", true);
    for (const auto& [task, found] : journal.finished()) REQUIRE(found == value(task));
    REQUIRE(journal.finished().size() <= before);
    REQUIRE((journal.finished().empty() || journal.finished().rbegin()->first + 1 == std::ssize(journal.finished())));
    before = journal.finished().size();
  }
  CHECK(before == 0);
}

TEST_CASE("changed bytes end what is believed") {
  const Scratch scratch("task_journal");
  const auto path = scratch.file("journal");
  write_five(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);  // within the value of task 4
    file.put('\x7f');
  }
  CHECK(TaskJournal(path, "five", true).finished().size() == 4);
}

TEST_CASE("a journal of other work is refused") {
  const Scratch scratch("task_journal");
  const auto path = scratch.file("journal");
  write_five(path);
  CHECK_THROWS_WITH(TaskJournal(path, "six", true),
                    "'" + path +
                        "' holds results of other work: 'cambium tasks: five' where 'cambium tasks: six' is to be "
                        "done; remove it, or use another run directory");
  CHECK_THROWS_WITH(TaskJournal("/nowhere/journal", "six", true),
                    "cannot write '/nowhere/journal': No such file or directory; make room or use another run "
                    "directory");
}
