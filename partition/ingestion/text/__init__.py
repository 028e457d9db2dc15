"""Rows of edges in text and tables: formats, columns, cells, compressed input.

The road of a row of text: readers.py finds the class of its file. blocks.py unpacks the file and cuts it into blocks of
whole lines. sniff.py says from the first lines how rows are read, a ``Shape``. rows.py hands blocks to threads, each of
which parses them by number_rows.py, or word_rows.py where ids are words. Of numbers, fast_rows.py takes plain rows and
leaves all from the first other row on to odd_rows.py. What comes of a block is a ``Piece`` of arrays (pieces.py).
"""
