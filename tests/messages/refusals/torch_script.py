"""What the network torch_script says about archives and data that cannot work."""
# needs: torch
import shutil
import sys
import zipfile

from table import Table

DECK = """
run: {name: script, directory: out}
stages:
  - train:
      network: {type: torch_script, file: net.pt, trust: true}
      dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
T = "stages[0].train."
table = Table("torch_script", DECK)
table.file("d.h5", {"x": [[0.1, 0.2], [0.3, 0.5], [0.4, 0.1], [0.9, 0.8]], "y": [[1.0], [2.0], [3.0], [4.0]]})


def says(message, *overrides, **how):
    table.says(message, *overrides, command=how.pop("command", "run"), **how)


def archive(name, module):
    torch.jit.script(module).save(table.path(name))


says("absent.pt: cannot be read, or is empty; check the path", T + "network.file=absent.pt", command="check")
table.file("text.pt", "weights")
says("text.pt: is no TorchScript archive, which is a zip file; export the model with torch.jit.save", T + "network.file=text.pt", command="check")
try:
    import torch
except ImportError:
    print("SKIPPED: torch_script: archives: python3-torch is not installed")
    table.run()
    sys.exit(77)


class Net(torch.nn.Module):
    """Two numbers to one, by a way that the constructor chooses."""

    def __init__(self, way: str = "", outputs: int = 1):
        super().__init__()
        self.layer = torch.nn.Linear(2, outputs)
        self.way = way

    def forward(self, x):
        y = self.layer(x)
        if self.way == "detached":
            return y.detach()
        if self.way == "sum":
            return y.sum(0)
        if self.way == "stops":
            assert x.size(1) == 3, "three numbers are needed"
        return y


class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, left, right):
        return self.layer(left) + self.layer(right)


class Words(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x):
        return "nothing"


class Loss(torch.nn.Module):
    def forward(self, y, right):
        return (y - right) ** 2


archive("net.pt", Net())
table.begins()
says("the archive net.pt is a program, which this network would run; set trust: true if you know where it comes from", T + "network.trust=false",
     command="check")
says("the archive net.pt is a program, which this network would run; set trust: true if you know where it comes from", T + "network.trust=false")
with open(table.path("net.pt"), "rb") as whole, open(table.path("short.pt"), "wb") as short:
    short.write(whole.read()[:1500])
says("short.pt: the file is cut short or damaged; copy it again", T + "network.file=short.pt", command="check")
# An operator that no LibTorch has.
with zipfile.ZipFile(table.path("net.pt")) as old, zipfile.ZipFile(table.path("future.pt"), "w", zipfile.ZIP_STORED) as new:
    for item in old.infolist():
        data = old.read(item)
        if item.filename.endswith(".py"):
            data = data.replace(b"torch.detach(", b"torch.detach_of_2030(")
        new.writestr(item, data)
says(("future.pt: uses the operator aten::detach_of_2030, which LibTorch", "does not have; build Cambium with the LibTorch that wrote the archive"),
     T + "network.file=future.pt", command="check")
archive("detached.pt", Net("detached"))
says("detached.pt: its outputs have no derivative by its parameters; look for detach(), no_grad, argmax or integer outputs in its forward",
     T + "network.file=detached.pt")
frozen = Net()
for parameter in frozen.parameters():
    parameter.requires_grad_(False)
archive("frozen.pt", frozen)
says('frozen.pt: has no parameters to train; export the module with torch.jit.script(module).save("net.pt"), neither frozen nor under no_grad',
     T + "network.file=frozen.pt", command="check")
empty = torch.jit.ScriptModule()
empty.save(table.path("empty.pt"))
says('empty.pt: has no method forward; export a module with torch.jit.script(module).save("net.pt")', T + "network.file=empty.pt", command="check")
archive("wide.pt", Net(outputs=3))
says("the module's output 'output' has the shape (2, 3), but the field 'y' has (2, 1), samples first; name other targets, or let the module give "
     "their shape", T + "network.file=wide.pt")
archive("sum.pt", Net("sum", 3))
says("sum.pt: its output 'output' has the shape (3) for 2 samples; the first axis must count samples", T + "network.file=sum.pt")
archive("stops.pt", Net("stops"))
says("stops.pt: its program stopped: AssertionError: three numbers are needed", T + "network.file=stops.pt")
archive("words.pt", Words())
says("words.pt: forward gives str; return a tensor, or a tuple, list or dictionary of tensors", T + "network.file=words.pt")
archive("two.pt", Two())
says("forward of two.pt takes the arguments left, right, and which of the fields x, y they are is not clear; list one field for each argument",
     T + "network.file=two.pt")
says("the data set has no field 'z'; it has: x, y", T + "network.inputs=[z]")
says("the data set has no field 'z'; it has: x, y", T + "network.targets=[z]")
says("the module reads all fields of the data set (x), so that none is left to compare its outputs with; add labels to the data set",
     T + "dataset.fields=[{name: x}]")
says("net.pt: gives 1 outputs, but 1 targets (y) need 2", T + "network.loss=gaussian_nll")
archive("loss.pt", Loss())
says("loss.pt: gives 2 values; a loss is one, the mean over the batch", T + "network.loss_file=loss.pt")
says("the loss of net.pt: its program stopped: Target 1 is out of bounds.", T + "network.loss=cross_entropy")
shutil.copy(table.path("out/train/model.h5"), table.path("plain.h5"))


class Normed(torch.nn.Module):
    """The parameters of Net, and running means."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.norm = torch.nn.BatchNorm1d(1, affine=False)

    def forward(self, x):
        return self.norm(self.layer(x))


archive("normed.pt", Normed())
says("the model has no values for the buffer 'norm.running_mean' of normed.pt; take one of the same module", T + "network.file=normed.pt",
     T + "start_from=plain.h5")
table.run()
