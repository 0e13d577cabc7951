# pro\ngram: process 7, thread 8
T:1:48000 :3:2000 :1000017:1 
T
