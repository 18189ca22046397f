"""Record the tables of all pictures with sliders anew."""

from .pictures import banks, flight, grid
from .tables import write

for picture in (banks, flight, grid):
    write(picture.__name__.rpartition(".")[2], picture.table())
